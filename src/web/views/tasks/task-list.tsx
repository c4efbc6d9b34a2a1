import { useRef } from 'preact/hooks';
import { SHOWN_STATUSES as STATUSES } from '../../../protocol/shape/shared-fields.ts';
import { hrefTo, setQuery } from '../../app/router.ts';
import { Empty, Show } from '../../kit/loading.tsx';
import { renderCount } from '../../kit/numbers.ts';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { type FilterKey, setValue, valueIn } from '../../model/tasks/task-filter.ts';
import { TASK_ORDERS, type TaskOrder } from '../../model/tasks/task-orders.ts';
import type { TasksResult } from '../../model/tasks/task-rows.ts';
import { FilterField } from './filter-field.tsx';
import { TaskLine } from './task-line.tsx';
import { type TaskWindow, useTaskWindow } from './use-task-window.ts';

type Query = Readonly<Record<string, string>>;

export function TaskList({ query, chosen }: { readonly query: Query; readonly chosen: string | undefined }) {
  const { q = '' } = query;
  const order = TASK_ORDERS.find((name) => name === query['order']) ?? 'status';
  const window = useTaskWindow(q, order, chosen);
  const { value } = window.loaded;
  const ask = (text: string): void => setQuery({ ...query, q: text });
  return (
    <>
      <header class="head">
        <h1>Tasks</h1>
        <span class="dim number">{value === undefined ? '' : describeCount(value)}</span>
        <FilterField q={q} onChange={ask} known={{ role: value?.roles ?? [], holder: value?.holders ?? [] }} />
        <CriticalToggle q={q} onChange={ask} length={value?.criticalLength} />
        <OrderChoice order={order} onChange={(next) => setQuery({ ...query, order: next === 'status' ? '' : next })} />
      </header>
      <StatusTabs query={query} chosen={chosen} value={value} />
      {value?.problems.map((problem) => (
        <p key={problem} class="failure" role="alert">
          {problem}
        </p>
      ))}
      <Show loaded={window.loaded} what="the tasks">
        {(shown) => <List window={window} value={shown} query={query} chosen={chosen} />}
      </Show>
    </>
  );
}

function describeCount({ total, counts }: TasksResult): string {
  const all = STATUSES.reduce((sum, status) => sum + counts[status], 0);
  return total === all ? renderCount(all) : `${renderCount(total)} of ${renderCount(all)}`;
}

function CriticalToggle({
  q,
  onChange,
  length,
}: {
  readonly q: string;
  readonly onChange: (q: string) => void;
  readonly length: number | undefined;
}) {
  const isOn = valueIn(q, 'critical') === 'yes';
  return (
    <button
      type="button"
      class="toggle"
      aria-pressed={isOn}
      title="Show only the longest chain of unfinished tasks"
      onClick={() => onChange(setValue(q, 'critical', isOn ? undefined : 'yes'))}
    >
      Critical path {length === undefined ? '' : <span class="dim number">{renderCount(length)}</span>}
    </button>
  );
}

const ORDER_WORDS: Readonly<Record<TaskOrder, string>> = {
  status: 'By status',
  urgent: 'Most urgent first',
  oldest: 'Oldest first',
  newest: 'Newest first',
};

function OrderChoice({ order, onChange }: { readonly order: TaskOrder; readonly onChange: (order: string) => void }) {
  return (
    <label>
      <span class="sr">Order</span>
      <select value={order} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {TASK_ORDERS.map((name) => (
          <option key={name} value={name}>
            {ORDER_WORDS[name]}
          </option>
        ))}
      </select>
    </label>
  );
}

interface StatusTabsProps {
  readonly query: Query;
  readonly chosen: string | undefined;
  readonly value: TasksResult | undefined;
}

const OPEN: readonly string[] = ['todo', 'in_progress', 'blocked'];

function StatusTabs({ query, chosen, value }: StatusTabsProps) {
  const { q = '' } = query;
  const now = valueIn(q, 'status');
  const countOf = (names: readonly string[]): number | undefined =>
    value === undefined
      ? undefined
      : STATUSES.reduce((sum, status) => (names.includes(status) ? sum + value.counts[status] : sum), 0);
  const parts: readonly (readonly [status: string | undefined, label: string, count: number | undefined])[] = [
    [undefined, 'All', countOf(STATUSES)],
    ['open', 'Open', countOf(OPEN)],
    ...STATUSES.map((status) => [status, status.replaceAll('_', ' '), countOf([status])] as const),
  ];
  const hrefOf = (status: string | undefined): string => {
    const key: FilterKey = 'status';
    const next = { ...query, q: setValue(q, key, status) };
    return hrefTo({ view: 'tasks', query: next, ...(chosen === undefined ? {} : { id: chosen }) });
  };
  return (
    <nav class="tabs statuses" aria-label="Status">
      {parts.map(([status, label, count]) => (
        <a key={label} href={hrefOf(status)} aria-current={now === status ? 'page' : undefined}>
          {label} <span class="number count">{count === undefined ? '' : renderCount(count)}</span>
        </a>
      ))}
    </nav>
  );
}

interface ListProps {
  readonly window: TaskWindow;
  readonly value: TasksResult;
  readonly query: Query;
  readonly chosen: string | undefined;
}

function List({ window, value, query, chosen }: ListProps) {
  const selected = useScrollTo(chosen, value.chosenAt);
  if (value.total === 0)
    return value.problems.length > 0 ? null : (
      <Empty>{(query['q'] ?? '') === '' ? NO_TASK : 'No task matches this filter.'}</Empty>
    );
  return (
    <>
      <div class="task-line columns" aria-hidden="true">
        <span class="mark">Status</span>
        <span class="id">Task</span>
        <span class="grow">Title</span>
        <span class="phase">Phase · role</span>
        <span class="now">Now</span>
        <span class="priority">Priority</span>
        <span class="age">For</span>
      </div>
      <VirtualList
        count={value.total}
        label="List of tasks"
        keyOf={(index) => window.rowAt(index)?.id}
        onRange={window.look}
        {...(selected === undefined ? {} : { selected })}
      >
        {(index) => {
          const row = window.rowAt(index);
          if (row === undefined) return <div class="row task-line dim">…</div>;
          return <TaskLine row={row} query={query} isChosen={row.id === chosen} />;
        }}
      </VirtualList>
    </>
  );
}

const NO_TASK = (
  <>
    There is no task yet. Add one: <code>baton task add ID --title "TITLE"</code>
  </>
);

/** Scrolls to a task when it is chosen, but not when it moves later. */
function useScrollTo(chosen: string | undefined, at: number): number | undefined {
  const shown = useRef<{ readonly id: string; readonly at: number } | undefined>(undefined);
  if (chosen !== undefined && chosen !== shown.current?.id && at >= 0) shown.current = { id: chosen, at };
  return shown.current?.at;
}
