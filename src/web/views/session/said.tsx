import type { ComponentChildren } from 'preact';
import type { SessionAccountView } from '../../../api/operations/task-view.ts';
import { useApi } from '../../app/hub-client.ts';
import { hrefTo } from '../../app/router.ts';
import { Claims } from '../../kit/claims.tsx';
import { Empty, Show } from '../../kit/loading.tsx';
import { LongText } from '../../kit/long-text.tsx';
import { renderCount } from '../../kit/numbers.ts';
import { StateMark } from '../../kit/state-mark.tsx';
import { renderTime } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';

interface SaidProps {
  readonly taskId: string;
  readonly epoch: number;
}

/**
 * A session's reports beside Baton's measurements; then each report in its own words, the measurement, the checks, and
 * the blocked stops.
 */
export function Said({ taskId, epoch }: SaidProps) {
  const session = useApi('session_view', { task_id: taskId, epoch }, { on: `task:${taskId}` });
  return (
    <Show loaded={session} what="the reports">
      {(view) => (
        <div class="said">
          <Comparison view={view} />
          <Reports view={view} />
          <Measured view={view} />
          <Checks view={view} />
          <Blocks view={view} />
        </div>
      )}
    </Show>
  );
}

interface PartProps {
  readonly view: SessionAccountView;
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Comparison({ view: { claims, measured, ended_at: endedAt } }: PartProps) {
  const different = claims.filter(({ differs }) => differs).length;
  if (claims.length === 0)
    return (
      <Empty>
        {endedAt === null
          ? 'The session has reported nothing yet. Baton measures it when it ends.'
          : 'The session reported nothing that Baton could compare.'}
      </Empty>
    );
  return (
    <Part title="Reports compared with measurements">
      <p>
        {different > 0 ? (
          <StateMark state="failed" word={`${renderCount(different)} of ${renderCount(claims.length)} differ`} />
        ) : measured === null ? (
          <StateMark state="pending" word="not measured yet" />
        ) : (
          <StateMark state="passed" word="no difference" />
        )}
      </p>
      <Claims claims={claims} />
    </Part>
  );
}

const WHAT: Readonly<Record<SessionAccountView['said'][number]['what'], string>> = {
  result: 'Result',
  record: 'Thought record',
  handoff: 'Handoff',
  exit: 'Exit signal',
  evidence: 'Evidence',
  progress: 'Progress',
  signal: 'Signal',
  question: 'Question',
};

function Reports({ view: { said } }: PartProps) {
  if (said.length === 0) return null;
  return (
    <Part title="Reports in full">
      <ol class="asked">
        {said.map(({ what, entry, at, text }) => (
          <li key={`${entry} ${what}`} class="card" data-seq={entry}>
            <div class="bar">
              <h3>{WHAT[what]}</h3>
              <EntryLink entry={entry} at={at} />
            </div>
            <LongText text={text} />
          </li>
        ))}
      </ol>
    </Part>
  );
}

function EntryLink({ entry, at }: { readonly entry: number; readonly at: string }) {
  return (
    <span class="dim number">
      {renderTime(at)} · <a href={hrefTo({ view: 'ledger', id: String(entry) })}>#{renderCount(entry)}</a>
    </span>
  );
}

function Measured({ view: { measured } }: PartProps) {
  if (measured === null) return null;
  const { base, head, commits, file_count: count, files, new_dependencies: added, violations } = measured;
  const named = files.map(({ path, action }) => `${action} ${path}`).join('\n');
  return (
    <Part title="Measured by Baton">
      <dl class="facts">
        <dt>Commits</dt>
        <dd class="number">
          {renderCount(commits)}{' '}
          <code>
            {base.slice(0, 12)}..{head.slice(0, 12)}
          </code>
        </dd>
        <dt>Files</dt>
        <dd>
          {renderCount(count)}
          {named === '' ? null : <LongText text={named} lines={8} />}
        </dd>
        {added.length === 0 ? null : <Fact name="New dependencies" text={added.join(', ')} />}
        {violations.length === 0 ? null : <Fact name="Broken rules" text={violations.join('\n')} />}
      </dl>
    </Part>
  );
}

function Fact({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <LongText text={text} lines={8} />
      </dd>
    </>
  );
}

function Checks({ view: { checks } }: PartProps) {
  if (checks.length === 0) return null;
  return (
    <Part title="Checks of its commit">
      <ul class="asked">
        {checks.map(({ name, outcome, exit_code: code, output, sandbox }) => (
          <li key={name} class="card">
            <div class="bar">
              <StateMark state={outcome} />
              <Words text={name} most={120} />
              <span class="dim">
                {code === null || code === 0 ? '' : `exit code ${code} `}
                <Words text={sandbox} most={120} />
              </span>
            </div>
            {output === null || output === '' ? null : <LongText text={output} kind="output" />}
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Blocks({ view: { blocks } }: PartProps) {
  if (blocks.length === 0) return null;
  return (
    <Part title="Stops that were blocked">
      <ol>
        {blocks.map(({ entry, at, owed }) => (
          <li key={entry} data-seq={entry}>
            {owed.length === 0 ? 'blocked' : `Still missing: ${owed.join(', ').replaceAll('_', ' ')}`}{' '}
            <EntryLink entry={entry} at={at} />
          </li>
        ))}
      </ol>
    </Part>
  );
}
