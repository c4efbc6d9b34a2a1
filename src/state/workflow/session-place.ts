import { event } from '../event.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import type { WorkflowEvents } from './workflow-event.ts';

/** Where a session works and what it is asked to do, before its agent is started. A start that is tried again keeps the first. */
export function decidePrepareSession(state: State, command: WorkflowEvents['SessionPrepared']): Outcome<null> {
  const task = state.tasks.get(command.task_id);
  if (task?.claim?.epoch !== command.epoch)
    return refusal('claim-ended', `the claim on ${command.task_id} has ended`, 'Nothing is started for it any more.');
  const isKnown = state.sessions.get(task.claim.sessionId)?.prepared !== undefined;
  return decided(isKnown ? [] : [event('SessionPrepared', command)], null);
}
