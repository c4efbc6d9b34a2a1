import { useEffect, useRef, useState } from 'preact/hooks';
import { useStateView } from '../../app/hub-client.ts';
import type { Loaded } from '../../hub/messages.ts';
import type { TaskOrder } from '../../model/tasks/task-orders.ts';
import type { TaskRow, TasksResult } from '../../model/tasks/task-rows.ts';

/** Rows are asked for in parts of this size, so that scrolling by a row asks nothing. */
const PART = 50;
/** While a person drags the bar, not every part that flies by is asked for. */
const PACE_MS = 50;

export interface TaskWindow {
  readonly loaded: Loaded<TasksResult>;
  /** Undefined if the row is not loaded yet. */
  readonly rowAt: (index: number) => TaskRow | undefined;
  readonly look: (from: number, to: number) => void;
}

/** The rows of the list that are on the screen. While another part is on its way, the last one stays. */
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
