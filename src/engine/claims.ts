import { type ClaimEndType, event, type Event, type EventOf } from '../state/event.ts';
import { agentsOfClaim } from '../state/runs/find-run.ts';
import { isCancelled, type Task } from '../state/tasks/task.ts';
import { describeError } from './blocked.ts';
import { stopPipeline } from './cancel.ts';
import type { EngineContext } from './context.ts';
import { endAgent, outcomeOfClaim } from './end-agent.ts';
import { escalate } from './decisions/escalate.ts';
import { holdTask } from './decisions/hold-task.ts';
import { askPeople } from './decisions/notify.ts';
import { quoteTitle } from '../state/packet/author-of.ts';

export function onSignal(world: EngineContext, data: EventOf<'AgentSignalled'>['data']): Event[] {
  const agent = world.state.agents.get(data.agent_id);
  const message = data.message ?? 'Agent asks for a person';
  if (agent === undefined) return data.kind === 'escalate' ? askAboutTask(world, data.agent_id, message) : [];
  if (data.kind === 'complete') return endAgent(world, agent, 'done', data.message);
  return escalate(world, agent, { source: 'stop', reason: 'agent:signal escalate', message });
}

/** On `AgentSessionCompleted`: an accepted exit signal also ends the agent's run. */
export function onExitSignal(world: EngineContext, data: EventOf<'AgentSessionCompleted'>['data']): Event[] {
  const { exit_reason, notes } = data;
  const failed =
    exit_reason === 'completed' ? undefined : `exit signal: ${exit_reason}${notes === undefined ? '' : `: ${notes}`}`;
  return agentsOfClaim(world.state, data.session_id).flatMap((agent) =>
    endAgent(world, agent, failed === undefined ? 'done' : 'failed', failed ?? notes ?? null),
  );
}

/** A session that Baton did not start escalates. The task is blocked until the decision is answered. */
function askAboutTask(world: EngineContext, sessionId: string, message: string): Event[] {
  const task_id = world.state.sessions.get(sessionId)?.taskId;
  if (task_id === undefined) return [];
  const options = [
    { label: 'Unblock the task', action: 'retry' },
    { label: 'Leave the task blocked', action: 'dismiss' },
  ] as const;
  const title = `Task needs attention: ${task_id}`;
  return askPeople(world, { source: 'stop', title, context: message, options, task_id });
}

/**
 * When a person unblocks or reinstates a task: ends its hold and its decisions, except those about budgets, for which
 * agents wait.
 */
export function onUnblocked({ state }: EngineContext, taskId: string, reason: string): Event[] {
  const withdrawn = [...state.decisions.values()]
    .filter(({ result, agentId, taskId: about }) => result === null && agentId === null && about === taskId)
    .filter(({ source }) => source !== 'budget')
    .map(({ id }) => event('DecisionWithdrawn', { decision_id: id, reason }));
  const isHeld = (state.tasks.get(taskId)?.flow.held ?? null) !== null;
  return isHeld ? [...withdrawn, event('TaskFreed', { task_id: taskId })] : withdrawn;
}

/**
 * When a task leaves BLOCKED without a person, after a recoverable error or a restored claim: withdraws only the
 * decision that the block opened. An agent can cause such a block, and must not be able to remove another decision that
 * way.
 */
export function onReturned({ state }: EngineContext, taskId: string): Event[] {
  const held = state.tasks.get(taskId)?.flow.held?.decisionId;
  return [...state.decisions.values()]
    .filter(({ id, result, agentId, taskId: about, source }) => {
      return result === null && agentId === null && about === taskId && source === 'error' && id !== held;
    })
    .map(({ id }) => event('DecisionWithdrawn', { decision_id: id, reason: 'the task continues without an answer' }));
}

/**
 * On the end of a claim. A session that lost its claim must not continue: its agents are stopped and the run fails. A
 * session that completed the task or reported it blocked has finished its work, and its pipeline continues with the
 * next step.
 */
export function onClaimEnd(world: EngineContext, type: ClaimEndType, data: EventOf<ClaimEndType>['data']): Event[] {
  const { state } = world;
  if (state.agents.size === 0 && state.pipelines.size === 0) return [];
  // The task was cancelled. `on-cancelled` ends its runs as cancelled, so no failure is reported.
  const task = state.tasks.get(data.task_id);
  if (type === 'ClaimRevoked' && task !== undefined && isCancelled(task)) return [];
  const { how, outcome, reason } = outcomeOfClaim(type, data);
  const run = state.pipelines.get(data.session_id);
  const isLost = how === 'expired' || how === 'revoked' || how === 'released';
  if (isLost && run !== undefined) return stopPipeline(world, run, 'failed', reason);
  return agentsOfClaim(state, data.session_id).flatMap((agent) => endAgent(world, agent, outcome, reason));
}

/** A completed task cannot be blocked, so a person is asked before another session tries to close it. */
export function onUnclosed(world: EngineContext, task: Task, { reason }: EventOf<ClaimEndType>['data']): Event[] {
  if (task.phase !== 'COMPLETED' || task.nextRole === null || task.claim !== null) return [];
  const { error } = task.flow;
  const why = error === null ? (reason ?? 'no reason was given') : describeError(task, error);
  const context = `${quoteTitle(task)}\n${task.id} is merged, but could not be closed: ${why}`;
  const options = [
    { label: 'Retry', action: 'retry' },
    { label: 'Do not close the task', action: 'cancel' },
  ] as const;
  return holdTask(world, task, { source: 'error', stage: 'closing failed', context, options });
}

/** Like `onUnclosed`, for a session that reported an error and then completed. */
export function onUnclosedByError(world: EngineContext, task: Task, data: EventOf<ClaimEndType>['data']): Event[] {
  return task.flow.error === null ? [] : onUnclosed(world, task, data);
}
