import { useEffect, useRef, useState } from 'preact/hooks';
import { useStateView } from '../../app/hub-client.ts';
import type { Loaded } from '../../hub/messages.ts';
import type { TaskOrder } from '../../model/tasks/task-orders.ts';
import type { TaskRow, TasksResult } from '../../model/tasks/task-rows.ts';

/** The number of rows per request, so that scrolling by a row needs none. */
const PART = 50;
/** The delay before a request, so that dragging the scroll bar does not request every part. */
const PACE_MS = 50;

export interface TaskWindow {
  readonly loaded: Loaded<TasksResult>;
  /** Returns undefined if the row is not loaded yet. */
  readonly rowAt: (index: number) => TaskRow | undefined;
  readonly look: (from: number, to: number) => void;
}

/** The rows of the list that are on the screen. While another part is loading, the last one stays. */
export function useTaskWindow(q: string, order: TaskOrder, chosen: string | undefined): TaskWindow {
  const [range, setRange] = useState({ from: 0, to: 2 * PART });
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const last = useRef<TasksResult | undefined>(undefined);
  const answer = useStateView('tasks', { q, order, ...range, ...(chosen === undefined ? {} : { chosen }) });
  useEffect(() => () => clearTimeout(timer.current), []);
  if (answer.value !== undefined) last.current = answer.value;
  const value = last.current;
  return {
    loaded: value === undefined ? answer : { ...answer, value },
    rowAt: (index) => value?.rows[index - value.from],
    look: (from, to) => {
      const next = { from: Math.floor(from / PART) * PART, to: Math.ceil(Math.max(to, 1) / PART) * PART };
      clearTimeout(timer.current);
      if (next.from === range.from && next.to === range.to) return;
      timer.current = setTimeout(() => setRange(next), PACE_MS);
    },
  };
}
