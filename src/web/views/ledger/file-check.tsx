import { useState } from 'preact/hooks';
import type { Completeness } from '../../../ledger/verify/completeness.ts';
import { standing } from '../../app/hub-client.ts';
import { hrefTo, project } from '../../app/router.ts';
import type { CheckedFile } from '../../hub/check-file.ts';
import { CopyCommand } from '../../kit/action.tsx';
import { renderAmount, renderCount } from '../../kit/numbers.ts';
import { ProofDownload } from '../../kit/proof-download.tsx';
import { StateMark } from '../../kit/state-mark.tsx';
import { Words } from '../../kit/words.tsx';
import { checkDropped, checkedFile } from './checked-file.ts';

/** Proofs: saves one, or checks one in this browser, even while the daemon is away. */
export function FileCheck() {
  const [task, setTask] = useState('');
  const checked = checkedFile.value;
  return (
    <>
      <h2>Proofs</h2>
      <section aria-label="Check a file">
        <h3>Check a file</h3>
        <label class="drop-zone">
          <span>Drop a task proof or an export here, or choose one.</span>
          <span class="dim">It is read in this browser, and sent nowhere.</span>
          <input
            type="file"
            aria-label="A task proof or an export"
            onChange={({ currentTarget }) => {
              const [file] = currentTarget.files ?? [];
              if (file !== undefined) checkDropped(file);
              currentTarget.value = '';
            }}
          />
        </label>
        {checked === undefined ? null : (
          <div class="card checked" role="status" data-checked={checked.result?.ok}>
            <p>
              <strong>
                <Words text={checked.name} most={120} />
              </strong>{' '}
              <span class="dim number">{renderAmount(checked.bytes)} bytes</span>
            </p>
            {checked.result === undefined ? (
              <p class="bar dim">
                <progress value={checked.doneBytes} max={Math.max(1, checked.bytes)} aria-label="Checked bytes" />
                Checking…
              </p>
            ) : (
              <Result result={checked.result} />
            )}
          </div>
        )}
      </section>
      <section aria-label="Save a proof">
        <h3>Save a proof</h3>
        <p class="dim">All entries of a task, with the hashes that tie them to the signed ledger.</p>
        <div class="bar">
          <label class="field">
            <span class="dim">Task</span>
            <input
              type="text"
              value={task}
              spellcheck={false}
              onInput={({ currentTarget: { value } }) => setTask(value.trim())}
            />
          </label>
          <ProofDownload taskId={task} />
        </div>
        <div class="bar">
          <CopyCommand command={`baton ledger prove ${task === '' ? 'TASK' : task} -o FILE`} />
          <CopyCommand command="baton ledger export -o FILE" />
          <CopyCommand command="baton verify FILE" />
        </div>
      </section>
    </>
  );
}

function describeCompleteness(complete: Completeness | null): string {
  if (!complete) return 'Not provable: entries may be missing.';
  const { from, to } = complete;
  return `No entry is missing up to entry ${renderCount(to)}.${from === 1 ? '' : ` Not provable before entry ${renderCount(from)}.`}`;
}

function Result({ result }: { readonly result: CheckedFile }) {
  if (!result.ok)
    return (
      <>
        <p>
          <StateMark state="broken" word="not valid" />
        </p>
        <p>
          <Words text={result.problem.message} most={500} />. <Words text={result.problem.hint} most={300} />
        </p>
      </>
    );
  const { kind, project: name, taskId, entries, size, root, keys, complete } = result;
  return (
    <>
      <p>
        <StateMark state="verified" word={`valid ${kind}`} />
      </p>
      <dl class="facts">
        <dt>Project</dt>
        <dd>
          <Words text={name} most={64} />
          {name === project.value ? '' : <span class="dim"> (not the one on this page)</span>}
        </dd>
        {taskId === undefined ? null : (
          <>
            <dt>Task</dt>
            <dd>
              {name === project.value ? (
                <a href={hrefTo({ view: 'tasks', id: taskId })}>
                  <Words text={taskId} most={64} />
                </a>
              ) : (
                <Words text={taskId} most={64} />
              )}
            </dd>
          </>
        )}
        <dt>Entries</dt>
        <dd class="number">
          {renderCount(entries)} of a ledger of {renderCount(size)}
        </dd>
        {complete === undefined ? null : (
          <>
            <dt>Complete</dt>
            <dd>{describeCompleteness(complete)}</dd>
          </>
        )}
        {root === undefined ? null : (
          <>
            <dt>Root</dt>
            <dd>
              <code class="hash">{root}</code>
            </dd>
          </>
        )}
        <dt>Signed by</dt>
        <dd>
          {keys.map((key) => (
            <p key={key}>
              <code class="hash">
                <Words text={key} most={300} />
              </code>{' '}
              <KnownKey keyText={key} project={name} />
            </p>
          ))}
        </dd>
      </dl>
    </>
  );
}

/** Shows the key for comparison: anyone can sign a file with their own key, so the reader must know it. */
function KnownKey({ keyText, project: name }: { readonly keyText: string; readonly project: string }) {
  const keys = standing.value.projects.find(({ id }) => id === name)?.verified.keys;
  if (keys === undefined) return <StateMark state="waiting" word="compare it with the key that you trust" />;
  return keys.includes(keyText) ? (
    <StateMark state="verified" word="a key of the ledger that this browser verified" />
  ) : (
    <StateMark state="broken" word="not a key of the ledger that this browser verified" />
  );
}
