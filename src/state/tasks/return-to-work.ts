import { phaseMovedEvent, type MoveReason } from './end-claim.ts';
import type { Event } from '../event.ts';
import { JUDGED_PHASES } from './judged-phase.ts';
import { rulesFor, type Rules } from '../rules.ts';
import { isCancelled, type Task } from './task.ts';

/**
 * A blocked task goes back to the phase that it was blocked in. If that is a judged phase and the branch has another commit than the one
 * that came to judgement, no check has seen the commit: the task goes where such work is checked or taken up instead.
 */
export function returnFromBlocked(task: Task, why: MoveReason, rules: Rules): Event[] {
  const { blocked } = task;
  // Neither a timer nor an older decision brings back what a person cancelled.
  if (blocked === null || isCancelled(task)) return [];
  return JUDGED_PHASES.has(blocked.from) && hasUnjudgedHead(task)
    ? sendBackToChecks(task, why, rules)
    : [phaseMovedEvent(task, blocked.from, why)];
}

/** A session that was to judge the work committed to it. Unknown for a task that came to judgement without a commit. */
export function hasUnjudgedHead({ flow: { judged = null, head } }: Task): boolean {
  return judged !== null && head !== judged;
}

/** To the checks if there are any; else to the fixer, who decides what becomes of the commit. A task without roles keeps none. */
export function sendBackToChecks(task: Task, { cause, reason }: MoveReason, rules: Rules): Event[] {
  const { judged, head } = task.flow;
  const words = `${reason}; ${head?.slice(0, 12) ?? ''} was committed after ${judged?.slice(0, 12) ?? ''} came to review`;
  const [to, role] = rulesFor(task, rules).ciGate
    ? (['CI_PENDING', 'reviewer'] as const)
    : (['IMPLEMENTATION', 'fixer'] as const);
  return [phaseMovedEvent(task, to, { cause, reason: words }, task.nextRole === null ? null : role)];
}
