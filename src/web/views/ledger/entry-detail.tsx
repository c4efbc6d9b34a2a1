import { useEffect, useState } from 'preact/hooks';
import { standing, useApi, verifyChain } from '../../app/hub-client.ts';
import { hrefTo, project, route } from '../../app/router.ts';
import { CopyCommand } from '../../kit/action.tsx';
import { Show } from '../../kit/loading.tsx';
import { renderCount } from '../../kit/numbers.ts';
import { ProofDownload } from '../../kit/proof-download.tsx';
import { Tabs } from '../../kit/split.tsx';
import { StateMark } from '../../kit/state-mark.tsx';
import { Age, renderTime } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import { subjectsOf } from '../../model/ledger/describe-entry.ts';
import { parseExportedEntry } from '../../model/ledger/ledger-parts.ts';
import { Causes } from './causes.tsx';
import { hashOfEntry, hashOfLine } from './entry-hash.ts';
import { JsonTree } from './json-tree.tsx';

/** One entry: everything that was hashed, its causes and its effects. */
export function EntryDetail({ seq, head }: { readonly seq: number; readonly head: number }) {
  const part = useApi('ledger_export', { from: seq, limit: 1 });
  return (
    <>
      <EntryHead seq={seq} head={head} now="entry" />
      <Show loaded={part} what={`entry #${renderCount(seq)}`}>
        {({ lines: [line = ''] }) => <Line seq={seq} line={line} />}
      </Show>
    </>
  );
}

/** The head of an entry, also shown above the state at the entry. */
export function EntryHead({
  seq,
  head,
  now,
}: {
  readonly seq: number;
  readonly head: number;
  readonly now: 'entry' | 'state';
}) {
  const to = (id: number) => hrefTo({ view: 'ledger', id: String(id), query: route.value.query });
  return (
    <>
      <header class="bar">
        <h2 class="number">Entry #{renderCount(seq)}</h2>
        {now === 'state' ? null : (
          <nav class="bar end" aria-label="Neighbours">
            {seq > 1 ? <a href={to(seq - 1)}>← #{renderCount(seq - 1)}</a> : null}
            {seq < head ? <a href={to(seq + 1)}>#{renderCount(seq + 1)} →</a> : null}
          </nav>
        )}
      </header>
      <Tabs
        now={now}
        parts={[
          ['entry', 'Entry'],
          ['state', 'State at this entry'],
        ]}
        to={(name) =>
          hrefTo({
            view: 'ledger',
            id: String(seq),
            query: route.value.query,
            ...(name === 'state' ? { part: name } : {}),
          })
        }
      />
    </>
  );
}

function Line({ seq, line }: { readonly seq: number; readonly line: string }) {
  const entry = parseExportedEntry(line);
  if (entry?.seq !== seq) return <p class="empty">There is no entry #{renderCount(seq)}.</p>;
  const { at, actor, type, data, prev, cause } = entry;
  const { task, agent, decision, pipeline } = subjectsOf(data);
  return (
    <>
      <dl class="facts">
        <dt>Type</dt>
        <dd>
          <a href={hrefTo({ view: 'ledger', query: { type } })}>
            <Words text={type} most={64} />
          </a>
        </dd>
        <dt>Recorded</dt>
        <dd class="number">
          {renderTime(at)} <span class="dim">({<Age at={at} suffix=" ago" />})</span>
        </dd>
        <dt>Actor</dt>
        <dd>
          <a href={hrefTo({ view: 'ledger', query: { actor } })}>
            <Words text={actor} most={200} />
          </a>
        </dd>
        {task === undefined ? null : <Subject label="Task" href={hrefTo({ view: 'tasks', id: task })} id={task} />}
        {agent === undefined ? null : (
          <Subject label="Session" href={hrefTo({ view: 'session', id: agent })} id={agent} />
        )}
        {pipeline === undefined ? null : (
          <Subject label="Pipeline" href={hrefTo({ view: 'work', id: `pipeline:${pipeline}` })} id={pipeline} />
        )}
        {decision === undefined ? null : (
          <Subject label="Decision" href={hrefTo({ view: 'inbox', id: decision })} id={decision} />
        )}
        <dt>Hash</dt>
        <dd>
          <Hash line={line} />
        </dd>
        <dt>Previous hash</dt>
        <dd>
          <code class="hash">
            <Words text={prev} most={64} />
          </code>
        </dd>
        <dt>Chain</dt>
        <dd>
          <ChainState seq={seq} />
        </dd>
      </dl>
      <section>
        <h3>Data</h3>
        <div class="card tree">
          <JsonTree value={data} />
        </div>
      </section>
      <Causes seq={seq} cause={cause} />
      <div class="bar">
        <CopyCommand command={`baton ledger show ${seq}`} />
        {task === undefined ? null : (
          <>
            <ProofDownload taskId={task} />
            <CopyCommand command={`baton ledger prove ${task} -o ${task}.proof.json`} />
          </>
        )}
      </div>
    </>
  );
}

function Subject({ label, href, id }: { readonly label: string; readonly href: string; readonly id: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <a href={href}>
          <Words text={id} most={100} />
        </a>
      </dd>
    </>
  );
}

/** The recorded hash, and whether the shown entry matches it. */
function Hash({ line }: { readonly line: string }) {
  const recorded = hashOfLine(line);
  const [computed, setComputed] = useState<string | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    void hashOfEntry(line).then((hash) => isCurrent && setComputed(hash));
    return () => void (isCurrent = false);
  }, [line]);
  return (
    <>
      <code class="hash">
        <Words text={recorded} most={64} />
      </code>{' '}
      {computed === undefined ? null : computed === recorded ? (
        <StateMark state="verified" word="matches the entry" />
      ) : (
        <StateMark state="broken" word={`the entry has ${computed}`} />
      )}
    </>
  );
}

function ChainState({ seq }: { readonly seq: number }) {
  const { link, projects } = standing.value;
  const own = projects.find(({ id }) => id === project.value);
  if (own === undefined) return null;
  const { to, isRunning, broken } = own.verified;
  if (broken !== undefined && broken.seq <= seq)
    return <StateMark state="broken" word={`broken at #${renderCount(broken.seq)}`} />;
  if (to >= seq) return <StateMark state="verified" word="verified in this browser" />;
  return (
    <span class="bar">
      <StateMark state="pending" word={to === 0 ? 'not verified yet' : `verified only to #${renderCount(to)}`} />
      <button type="button" disabled={link.kind !== 'live' || isRunning} onClick={() => verifyChain(own.id)}>
        {isRunning ? 'Verifying…' : 'Verify to here'}
      </button>
    </span>
  );
}
