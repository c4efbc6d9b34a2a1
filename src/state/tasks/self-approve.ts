import type { Caller } from '../caller.ts';
import { refuseUnknownTask } from './create-task.ts';
import { event } from '../event.ts';
import { judgedHead, isSelfApproved } from './judging.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import { includesPrincipal, principalOf } from '../principal.ts';
import type { State } from '../state.ts';
import { refuseBlocked, refuseCompleted } from './update-task.ts';

export interface SelfApprove {
  readonly id: string;
  readonly reason: string;
}

/**
 * A person who works alone approves their own change, with a reason, at the commit that it has now. A later commit needs another approval.
 * For a change that another principal made there is nothing to record.
 */
export function decideSelfApprove(state: State, { id, reason }: SelfApprove, caller: Caller): Outcome<null> {
  const task = state.tasks.get(id);
  if (task === undefined) return refuseUnknownTask(id);
  if (reason.trim() === '')
    return refusal('no-reason', 'to approve your own change needs a reason', 'Say why: it is recorded.');
  if (task.phase === 'COMPLETED') return refuseCompleted(task);
  if (task.phase === 'BLOCKED') return refuseBlocked(task);
  const by = principalOf(state, caller);
  const head = judgedHead(task);
  if (head === undefined) {
    const hint = `Record the commit first: baton thought record - (task_id ${id})`;
    return refusal('nothing-to-approve', `task ${id} has no commit that could be approved`, hint);
  }
  const isOthers = task.flow.head !== null && !includesPrincipal(task.flow.authors, by);
  if (isOthers || isSelfApproved(task, by)) return decided([], null);
  return decided([event('SelfApproved', { task_id: id, by, head, reason })], null);
}
