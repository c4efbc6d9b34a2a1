import { endClaim, moveTo } from './claim-task.ts';
import { noSuchTask } from './create-task.ts';
import { event } from './event.ts';
import { decided, refusal, type Outcome } from './outcome.ts';
import { reinstate } from './record-thought.ts';
import type { State } from './state.ts';
import { complete } from './update-task.ts';

/** What only operators may do to a task, each with a reason that is recorded. */
export interface OperateTask {
  readonly id: string;
  readonly action: 'unblock' | 'reinstate' | 'cancel' | 'waive';
  readonly reason: string;
}

export function decideOperateTask(state: State, { id, action, reason }: OperateTask): Outcome<null> {
  const task = state.tasks.get(id);
  if (task === undefined) return noSuchTask(id);
  if (reason.trim() === '')
    return refusal('no-reason', `to ${action} a task needs a reason`, 'Say why: it is recorded.');
  switch (action) {
    case 'unblock':
      if (task.blocked === null)
        return refusal('not-blocked', `task ${id} is not blocked`, `See it: baton task show ${id}`);
      return decided([moveTo(task, task.blocked.from, reason)], null);
    case 'reinstate':
      return decided(reinstate(task, reason), null);
    case 'cancel': {
      if (task.phase === 'COMPLETED')
        return refusal('completed', `task ${id} is completed`, 'There is nothing to cancel.');
      const ended = task.claim === null ? [] : endClaim(task, task.claim, 'revoked', reason);
      const moved = task.phase === 'BLOCKED' ? [] : [moveTo(task, 'BLOCKED', `cancelled: ${reason}`)];
      return decided([...ended, ...moved], null);
    }
    case 'waive':
      if (task.phase === 'COMPLETED') return decided([], null);
      return decided(
        [event('WritebackWaived', { task_id: id, reason }), ...complete(task, task.claim, `waived: ${reason}`)],
        null,
      );
  }
}
