import { useEffect, useRef, useState } from 'preact/hooks';
import { useStateView } from '../../app/hub-client.ts';
import { hrefTo, type Route } from '../../app/router.ts';
import { Empty, Show } from '../../kit/loading.tsx';
import { renderCount } from '../../kit/numbers.ts';
import { Rows } from '../../kit/rows.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { WorkLines } from '../../model/run/work-lines.ts';
import { WORK_GROUPS, type WorkGroup } from '../../model/run/kinds.ts';
import type { WorkRow as Row, WorkView } from '../../model/run/work-rows.ts';
import { WorkRow } from './work-row.tsx';

/** Up to this number all rows are in the document; a longer list has only those on the screen. */
const ALL_ROWS = 100;
const PAGE = 50;
const TITLES: Readonly<Record<WorkGroup, string>> = {
  running: 'Running',
  waiting: 'Waits for a person',
  ended: 'Ended',
};

export function WorkList({ route }: { readonly route: Route }) {
  const show = route.query['show'] === 'running' ? 'running' : 'all';
  const [from, setFrom] = useState(0);
  const chosen = route.id === undefined ? {} : { chosen: route.id };
  const loaded = useStateView('work', { show, from, to: from + ALL_ROWS + PAGE, ...chosen });
  // The previous rows stay until the next part of a long list is loaded.
  const last = useRef<WorkView | undefined>(undefined);
  if (loaded.value !== undefined) last.current = loaded.value;
  useEffect(() => setFrom(0), [show]);
  const view = loaded.value ?? last.current;
  return (
    <>
      <div class="head">
        <h1>Work</h1>
        <nav class="filter" aria-label="Which runs">
          {(['all', 'running'] as const).map((name) => (
            <a
              key={name}
              href={hrefTo({ ...route, query: name === 'all' ? {} : { show: name } })}
              aria-current={name === show ? 'true' : undefined}
            >
              {name === 'all' ? 'All' : 'Running'}
            </a>
          ))}
        </nav>
        {view === undefined ? null : <Counts counts={view.counts} />}
      </div>
      <Show loaded={view === undefined ? loaded : { ...loaded, value: view }} what="the work">
        {(value) => <List view={value} route={route} onFrom={setFrom} />}
      </Show>
    </>
  );
}

function Counts({ counts }: { readonly counts: WorkView['counts'] }) {
  return (
    <p class="dim number">
      {renderCount(counts.running)} running · {renderCount(counts.waiting)} waiting · {renderCount(counts.ended)} ended
    </p>
  );
}

interface ListProps {
  readonly view: WorkView;
  readonly route: Route;
  readonly onFrom: (from: number) => void;
}

function List({ view, route, onFrom }: ListProps) {
  if (view.total === 0)
    return (
      <Empty>
        Nothing runs here yet. Start a workflow: <code>baton run issue "TITLE"</code>
      </Empty>
    );
  const parts = { isHead: true, view, route, onFrom };
  return (
    <div class="work-table">
      <WorkHead />
      {view.total <= ALL_ROWS ? <ShortList {...parts} /> : <LongList {...parts} />}
    </div>
  );
}

/** The headings are only visual, because every cell has its own label. */
function WorkHead() {
  return (
    <div class="work-row work-head" aria-hidden="true">
      {['State', 'Run', 'Stages', 'Last line', 'Tokens', 'Cost', 'Last report', 'Age'].map((name) => (
        <span key={name} class={`cell-${name.toLowerCase().replace(' ', '-')}`}>
          {name}
        </span>
      ))}
    </div>
  );
}

function ShortList({ view, route }: ListProps) {
  return (
    <>
      {WORK_GROUPS.map((group) => {
        const rows = view.rows.filter((row) => row.group === group);
        return rows.length === 0 ? null : (
          <section key={group} aria-label={TITLES[group]}>
            <Heading group={group} count={view.counts[group]} />
            <Rows items={rows} keyOf={({ key }) => key} label={TITLES[group]}>
              {(row) => <WorkRow row={row} route={route} />}
            </Rows>
          </section>
        );
      })}
    </>
  );
}

function Heading({ group, count }: { readonly group: WorkGroup; readonly count: number }) {
  return (
    <h2 class="group">
      {TITLES[group]} <span class="number">{renderCount(count)}</span>
    </h2>
  );
}

function LongList({ view, route, onFrom }: ListProps) {
  const lines = new WorkLines(view);
  const rowAt = (line: number): Row | undefined => {
    const found = lines.at(line);
    return found?.kind === 'row' ? view.rows[found.index - view.from] : undefined;
  };
  return (
    <VirtualList
      count={lines.length}
      label="Runs"
      keyOf={(line) => rowAt(line)?.key ?? `line ${line}`}
      {...(view.chosenAt === null ? {} : { selected: lines.lineOf(view.chosenAt) })}
      onRange={(first) => {
        const at = lines.at(first);
        const index = at?.kind === 'row' ? at.index : 0;
        onFrom(Math.max(0, Math.floor(index / PAGE) * PAGE));
      }}
    >
      {(line) => {
        const found = lines.at(line);
        if (found?.kind === 'heading') return <Heading group={found.group} count={found.count} />;
        const row = rowAt(line);
        return row === undefined ? <p class="row dim">…</p> : <WorkRow row={row} route={route} />;
      }}
    </VirtualList>
  );
}
