import { useEffect, useRef, useState } from 'preact/hooks';
import type { StatusView } from '../../../api/run-views.ts';
import { useStateView } from '../../app/hub-client.ts';
import { hrefTo } from '../../app/router.ts';
import type { Loaded } from '../../hub/messages.ts';
import { CopyCommand } from '../../kit/action.tsx';
import { Empty, Show } from '../../kit/loading.tsx';
import { Rows } from '../../kit/rows.tsx';
import { groupAlike, keepAlike } from '../../model/inbox/answer-rules.ts';
import { listNeeds, listRunning, type NeedsRow } from '../../model/inbox/inbox-rows.ts';
import type { RecentItem } from '../../model/inbox/recent.ts';
import type { Waits } from '../../model/inbox/waits.ts';
import { AnswerAlike } from './answer-alike.tsx';
import { AttentionRow, DecisionRow, RecentRow, RunningRow, type Ticking } from './rows.tsx';

const FEW = 30;
const MANY = 300;

/**
 * The groups needs you, running and recent. One component, so that rows in a lower group notice when a group above them
 * grows.
 */
export function InboxList({
  status,
  chosen,
}: {
  readonly status: Loaded<StatusView>;
  readonly chosen: string | undefined;
}) {
  const [most, setMost] = useState(FEW);
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const recent = useStateView('recent', { most });
  // Rows are higher beside a detail, so the chosen row may have left the screen.
  useEffect(() => document.querySelector('.item.chosen')?.scrollIntoView({ block: 'nearest' }), [chosen]);
  const open = [...(status.value?.needs_you ?? []), ...(status.value?.answered ?? [])];
  const alike = groupAlike(open);
  const kept = keepAlike(ticked, alike);
  return (
    <>
      <Show loaded={status} what="the status">
        {(value) => (
          <Groups
            status={value}
            chosen={chosen}
            ticking={{ alike, ticked: kept, setTicked }}
            hasRecent={recent.value?.length !== 0}
          />
        )}
      </Show>
      <Show loaded={recent} what="recent work">
        {(items) => <Recent items={items} chosen={chosen} most={most} showMore={() => setMost(MANY)} />}
      </Show>
      <AnswerAlike open={open} alike={alike} ticked={kept} setTicked={setTicked} />
    </>
  );
}

interface GroupsProps {
  readonly status: StatusView;
  readonly chosen: string | undefined;
  readonly ticking: Ticking;
  readonly hasRecent: boolean;
}

function Groups({ status, chosen, ticking, hasRecent }: GroupsProps) {
  const needs = listNeeds(status);
  const running = listRunning(status);
  const waits = useWaits(needs);
  if (needs.length === 0 && running.length === 0 && !hasRecent) return <Unused />;
  return (
    <>
      {needs.length === 0 ? null : <Heading title="Needs you" count={status.needs} />}
      <Rows items={needs} keyOf={({ key }) => key} label="Needs you">
        {(row) =>
          row.kind === 'decision' ? (
            <DecisionRow
              decision={row.decision}
              wait={waits?.decisions[row.key]}
              isChosen={row.key === chosen}
              ticking={ticking}
            />
          ) : (
            <AttentionRow
              id={row.key}
              item={row.item}
              wait={waits?.tasks[row.item.task_id ?? '']}
              isChosen={row.key === chosen}
            />
          )
        }
      </Rows>
      {running.length === 0 ? null : <Heading title="Running" count={running.length} />}
      <Rows items={running} keyOf={({ kind, id }) => `${kind}:${id}`} label="Running">
        {(row) => <RunningRow row={row} cost={waits?.workflows[row.id]} />}
      </Rows>
    </>
  );
}

/** The query changes with the list, so the known values stay visible until the next answer. */
function useWaits(needs: readonly NeedsRow[]): Waits | undefined {
  const about = needs.flatMap((row) => (row.kind === 'attention' ? (row.item.task_id ?? []) : []));
  const { value } = useStateView('waits', { taskIds: [...new Set(about)].toSorted() });
  const last = useRef(value);
  last.current = value ?? last.current;
  return last.current;
}

function Heading({ title, count }: { readonly title: string; readonly count?: number }) {
  return (
    <h2 class="group">
      {title} {count === undefined ? null : <span class="number dim">{count}</span>}
    </h2>
  );
}

interface RecentProps {
  readonly items: readonly RecentItem[];
  readonly chosen: string | undefined;
  readonly most: number;
  readonly showMore: () => void;
}

function Recent({ items, chosen, most, showMore }: RecentProps) {
  if (items.length === 0) return null;
  return (
    <>
      <Heading title="Recent" />
      <Rows items={items} keyOf={({ kind, id }) => `${kind}:${id}`} label="Recent">
        {(item) => <RecentRow item={item} isChosen={item.kind === 'decision' && item.id === chosen} />}
      </Rows>
      {items.length < most || most >= MANY ? null : (
        <button type="button" class="more" onClick={showMore}>
          Show more
        </button>
      )}
    </>
  );
}

/** The view of a project without any activity yet. */
function Unused() {
  return (
    <Empty>
      Nothing runs here yet. Start a workflow: <CopyCommand command={'baton run issue "TITLE"'} /> or add{' '}
      <a href={hrefTo({ view: 'tasks' })}>tasks</a>: <CopyCommand command={'baton task add ID --title "TITLE"'} />
    </Empty>
  );
}
