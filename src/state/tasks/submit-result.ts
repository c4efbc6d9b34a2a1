import type { Result } from '../../protocol/result.ts';
import type { Caller } from '../caller.ts';
import { refuseUnknownTask } from './create-task.ts';
import { event } from '../event.ts';
import { checkFilledIn } from './filled-in.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import { checkClaim } from '../caller.ts';
import type { State } from '../state.ts';
import { missionIds } from './task.ts';

export interface SubmitResult {
  readonly result: Result;
}

/** What a session reports about its mission. The newest counts: an agent may correct itself until it leaves. */
export function decideSubmitResult(
  state: State,
  { result }: SubmitResult,
  caller: Caller,
): Outcome<{ readonly task_id: string; readonly status: Result['status'] }> {
  if (caller.kind !== 'session')
    return refusal('no-claim', 'only a session hands in a result', 'Use the token of the claim.');
  const task = state.tasks.get(caller.taskId);
  if (task === undefined) return refuseUnknownTask(caller.taskId);
  const held = checkClaim(task, caller);
  if (!held.ok) return held;
  const { taskId } = missionIds(task);
  if (result.task_id !== taskId)
    return refusal('wrong-task', `the result is about ${result.task_id}, the mission about ${taskId}`, 'Correct it.');
  const filled = checkFilledIn('result', result);
  if (!filled.ok) return filled;
  const { epoch, sessionId } = held.claim;
  const submitted = event('ResultSubmitted', { task_id: task.id, epoch, session_id: sessionId, result });
  return decided([submitted], { task_id: task.id, status: result.status });
}
