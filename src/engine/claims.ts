import { event, type Event, type EventOf } from '../state/event.ts';
import { agentsOfClaim } from '../state/runs/find-run.ts';
import { excerptStart } from '../state/runs/excerpt.ts';
import { endAgent } from './end-agent.ts';
import { escalate } from './escalate.ts';
import { notifyAttention } from './notify.ts';
import type { EngineContext } from './context.ts';

/** On `AgentSignalled`: the agent itself says how it stands. */
export function onSignal(world: EngineContext, data: EventOf<'AgentSignalled'>['data']): Event[] {
  const agent = world.state.agents.get(data.agent_id);
  const message = data.message ?? 'Agent asks for a person';
  if (agent === undefined) return data.kind === 'escalate' ? askAboutTask(world, data.agent_id, message) : [];
  if (data.kind === 'complete') return endAgent(world, agent, 'done', data.message);
  return escalate(world, agent, { source: 'stop', reason: 'agent:signal escalate', message });
}

/** On `AgentSessionCompleted`: an accepted exit signal is the signal for the step, too. */
export function onExitSignal(world: EngineContext, data: EventOf<'AgentSessionCompleted'>['data']): Event[] {
  const { exit_reason, notes } = data;
  const failed =
    exit_reason === 'completed' ? undefined : `exit signal: ${exit_reason}${notes === undefined ? '' : `: ${notes}`}`;
  return agentsOfClaim(world.state, data.session_id).flatMap((agent) =>
    endAgent(world, agent, failed === undefined ? 'done' : 'failed', failed ?? notes ?? null),
  );
}

/** Somebody who works under a claim of their own, without Baton's help, asks: the task is blocked until there is an answer. */
function askAboutTask(world: EngineContext, sessionId: string, message: string): Event[] {
  const task_id = world.state.sessions.get(sessionId)?.taskId;
  if (task_id === undefined) return [];
  const decision_id = world.newId();
  const title = `Task needs attention: ${task_id}`;
  const options = [
    { label: 'Unblock the task', action: 'retry', recommended: true },
    { label: 'Leave the task blocked', action: 'dismiss', recommended: false },
  ] as const;
  const about = { agent_id: null, pipeline_id: null, task_id };
  const opened = event('DecisionOpened', {
    decision_id,
    source: 'stop',
    title,
    context: excerptStart(message),
    options,
    ...about,
  });
  return [opened, notifyAttention(world, title, message, decision_id)];
}

/**
 * On a task that a person unblocked, or that begins again: the open questions about it are withdrawn, and nothing holds it. A question about
 * a budget stays: agents wait for its answer.
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
 * On a task that returns by itself, after a recoverable error or because its claim was restored: only the question that the block itself
 * opened is withdrawn. An agent can cause such a block, and must not dissolve another question by it.
 */
export function onReturned({ state }: EngineContext, taskId: string): Event[] {
  const held = state.tasks.get(taskId)?.flow.held?.decisionId;
  return [...state.decisions.values()]
    .filter(({ id, result, agentId, taskId: about, source }) => {
      return result === null && agentId === null && about === taskId && source === 'error' && id !== held;
    })
    .map(({ id }) => event('DecisionWithdrawn', { decision_id: id, reason: 'the task goes on by itself' }));
}
