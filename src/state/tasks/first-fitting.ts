import { JUDGED_PHASES } from './judged-phase.ts';
import { checkMayJudge } from './judging.ts';
import type { Principal } from '../principal.ts';
import type { ReadyTasks } from './ready.ts';
import type { Rules } from '../rules.ts';
import type { State } from '../state.ts';
import type { Task } from './task.ts';

/** Whether a claim of this task by this principal would pass the rules about judging: what would be refused is not offered. */
export function mayClaim(state: State, task: Task, principal: Principal, rules: Rules): boolean {
  return !JUDGED_PHASES.has(task.phase) || checkMayJudge(state, task, principal, rules).ok;
}

/** The most urgent tasks that fit. Most of the ready ones usually do, so only as many are looked at as it takes. */
export function findFittingTasks(
  ready: Pick<ReadyTasks, 'first'>,
  state: State,
  count: number,
  fits: (task: Task) => boolean,
  role?: string,
): readonly Task[] {
  for (let look = Math.max(64, count); ; look *= 8) {
    const seen = ready.first(state, look, role);
    const fitting = seen.filter(fits).slice(0, count);
    if (fitting.length === count || seen.length < look) return fitting;
  }
}
