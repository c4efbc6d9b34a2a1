import { event, type Event } from '../state/event.ts';
import { reinstate } from '../state/tasks/record-session.ts';
import type { Decision, DecisionAction } from '../state/runs/decision.ts';
import { finishTask } from '../state/tasks/update-task.ts';
import { describeReason } from './set-going.ts';
import type { EngineContext } from './context.ts';

/** On the answer to what reconciliation found: the task is done again, or taken as done, if it still is as it was when people were asked. */
export function onFindingDecision(
  { state, rules }: EngineContext,
  { taskId }: Decision,
  action: DecisionAction,
  message: string | null,
): Event[] {
  const task = state.tasks.get(taskId ?? '');
  if (task === undefined) return [];
  if (action === 'retry') return task.phase === 'COMPLETED' ? reinstate(task, describeReason(action, message)) : [];
  if (action !== 'done') return [];
  const finished = finishTask(task, null, rules, []);
  return finished.ok ? [...finished.events] : [];
}

/** On a task that is done: whether it should be is no longer a question. */
export function onCompleted({ state }: EngineContext, taskId: string): Event[] {
  return [...state.decisions.values()]
    .filter(({ source, taskId: about, result }) => source === 'reconcile' && about === taskId && result === null)
    .map(({ id }) => event('DecisionWithdrawn', { decision_id: id, reason: 'the task was completed' }));
}
