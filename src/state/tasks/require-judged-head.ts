import type { Phase } from '../../protocol/phase.ts';
import { JUDGED_PHASES } from './judged-phase.ts';
import { refusal } from '../outcome.ts';
import type { Task } from './task.ts';
import type { RuleCheck } from './writeback.ts';

/**
 * Whoever judges does not commit: from the checks to the merge the work is one commit, and what comes after it goes back to be checked and
 * reviewed. Otherwise a reviewer could approve what only they have seen, and CI has not.
 */
export function checkJudgedHead(task: Task, to: Phase | null, head: string | undefined): RuleCheck {
  const { head: judged } = task.flow;
  if (to === null || !JUDGED_PHASES.has(task.phase) || !JUDGED_PHASES.has(to)) return { ok: true };
  if (head === undefined || judged === null || head === judged) return { ok: true };
  const message = `${task.id} came here as ${judged.slice(0, 12)}, and its head is ${head.slice(0, 12)}: whoever commits cannot approve`;
  const hint = `Hand it to the fixer-agent with what should change, or take the commits off: git reset --hard ${judged.slice(0, 12)}`;
  return refusal('separation-of-duties', message, hint);
}
