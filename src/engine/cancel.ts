import { event, type Event } from '../state/event.ts';
import type { State } from '../state/state.ts';
import type { Task } from '../state/tasks/task.ts';
import { endAgent } from './end-agent.ts';
import { cancelPending } from './pending.ts';
import { stopPipeline } from './stop-step.ts';
import type { EngineContext } from './context.ts';

/**
 * When a task is cancelled, by a command or by a decision: everything that belongs to it ends in the same commit. Its runs are cancelled, its open
 * decisions withdrawn, its checks stopped, it is not held and not tried again, and its worktree and branch are removed if they hold nothing.
 */
export function onCancelled(world: EngineContext, task: Task): Event[] {
  const { state } = world;
  const reason = task.blocked?.reason ?? 'cancelled';
  const { branch } = task.flow;
  const ended = endRuns(world, task.id, reason);
  // The end of a run withdraws its own question.
  const asked = openDecisions(state, task.id).filter((id) => !ended.some((each) => isWithdrawal(each, id)));
  const timers = [...state.effects.values()].filter((effect) => effect.kind === 'wait').filter(isRetryOf(task.id));
  return [
    ...ended,
    ...asked.map((id) => event('DecisionWithdrawn', { decision_id: id, reason: `the task was ${reason}` })),
    ...(task.flow.held === null ? [] : [event('TaskFreed', { task_id: task.id })]),
    ...cancelPending(timers),
    ...stopChecks(task),
    ...(branch === null ? [] : [event('PlaceClearRequested', { task_id: task.id, branch })]),
  ];
}

function endRuns(world: EngineContext, taskId: string, reason: string): Event[] {
  const { pipelines, agents } = world.state;
  const roots = [...pipelines.values()].filter((run) => run.task?.task_id === taskId && run.parent === null);
  const alone = [...agents.values()].filter((agent) => agent.task?.task_id === taskId && agent.owner === null);
  return [
    ...roots.flatMap((run) => stopPipeline(world, run, 'cancelled', reason)),
    ...alone.flatMap((agent) => endAgent(world, agent, 'cancelled', reason)),
  ];
}

/** Nobody waits for their outcome: those that Baton runs are ended, those that GitHub runs are no longer looked up. */
function stopChecks({ id: task_id, flow: { checks } }: Task): Event[] {
  if (checks === null || checks.outcome !== null) return [];
  return [event('ChecksFinished', { checks_id: checks.id, task_id, head: checks.head, outcome: 'cancelled' })];
}

function isWithdrawal({ type, data }: Event, id: string): boolean {
  return type === 'DecisionWithdrawn' && data.decision_id === id;
}

function openDecisions({ decisions }: State, taskId: string): readonly string[] {
  return [...decisions.values()]
    .filter(({ taskId: about, result }) => about === taskId && result === null)
    .map(({ id }) => id);
}

function isRetryOf(
  taskId: string,
): (effect: { readonly purpose: { readonly kind: string; readonly task_id?: string } }) => boolean {
  return ({ purpose }) => purpose.kind === 'unblock' && purpose.task_id === taskId;
}
