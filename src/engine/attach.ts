import { event, type Event } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { DecisionSource } from '../state/runs/decision.ts';
import {
  cancelPending,
  type EngineContext,
  findWaitingHandler,
  pendingActions,
  timersOf,
  undeliveredMessages,
} from './context.ts';
import { handlerPlan } from './handlers.ts';
import { findOwnerPipeline, resumeAgent, unparkAgent } from './resume.ts';
import { setStepTimer } from './steps.ts';

/**
 * On `AgentAttachRequested`: a person takes over the conversation. The agent's scheduled handlers are cancelled, and
 * its step's time limit is paused. The agent's process stops first; if there is none, the person's process can start at
 * once.
 */
export function onAttach(world: EngineContext, agent: AgentRun): Event[] {
  if (agent.outcome !== null) return [];
  const pending = pendingActions(world.state, agent.id).filter((each) => findWaitingHandler(each) !== undefined);
  const run = findOwnerPipeline(world, agent);
  const calledOff = cancelPending([...pending, ...(run === undefined ? [] : timersOf(world.state, run.id))]);
  return agent.process === 'gone' ? [...calledOff, resumeAgent(agent, null, false)] : calledOff;
}

/**
 * The person's process can start. Messages of an agent that had not started are delivered after the person detached.
 */
export function startAttachedProcess(world: EngineContext, agent: AgentRun): Event[] {
  const text = agent.supervisor === null ? (agent.resume?.message ?? null) : null;
  const told =
    text === null ? [] : [event('MessageRequested', { message_id: world.newId(), agent_id: agent.id, text })];
  return [resumeAgent(agent, null, false), ...told];
}

/**
 * Takes the conversation back after the person's process ended or failed to start. An agent that waits for no answer
 * continues. An agent that waits for an answer continues if the person has talked with it about that question;
 * otherwise it keeps waiting.
 */
export function endAttachment(world: EngineContext, agent: AgentRun): Event[] {
  const { attach, parked } = agent;
  if (attach === null) return [];
  const { start, by, talked } = attach;
  const isUntold = attach.state === 'there';
  const detached = isUntold
    ? [event('AgentDetached', { agent_id: agent.id, start, by, how: 'lost', talked: false })]
    : [];
  if (agent.outcome !== null) return detached;
  if (parked === null) return [...detached, ...restartClock(world, agent), ...resumeAfterAttach(world, agent)];
  const decision = world.state.decisions.get(parked);
  const isAnswer = talked && parked === attach.asked && ANSWERED_BY_TALK.has(decision?.source ?? 'budget');
  if (!isAnswer) return detached;
  const withdrawn = event('DecisionWithdrawn', { decision_id: parked, reason: `${by} talked with the agent` });
  return [...detached, withdrawn, ...unparkAgent(world, agent), ...resumeAfterAttach(world, agent)];
}

/** Questions that a conversation with the agent can answer. Those about budgets or the work of others stay open. */
const ANSWERED_BY_TALK: ReadonlySet<DecisionSource> = new Set(['stop', 'idle', 'dead', 'error', 'prompt', 'gate']);

/** Sends undelivered messages first. Without any, sends the runbook's message for a resumed agent. */
function resumeAfterAttach({ state }: EngineContext, agent: AgentRun): Event[] {
  const unheard = undeliveredMessages(state, agent.id);
  const passed = unheard.map(({ data: { message_id, agent_id } }) =>
    event('MessageDelivered', { message_id, agent_id, ok: false, reason: 'a person is attached to the agent' }),
  );
  const { action, message } = handlerPlan(agent.plan, 'on_dead', null);
  const own = action === 'resume' ? message : undefined;
  const alone = agent.attach?.state === 'wanted' ? NOBODY_CAME : ALONE;
  const told = unheard.map(({ data }) => data.text).join('\n\n') || (own ?? alone);
  return [...passed, resumeAgent(agent, told, false)];
}

const RESUME_MESSAGE = 'Continue your work. When it is done, signal completion; if you cannot continue, escalate.';
export const ALONE = `The person who worked with you has left. ${RESUME_MESSAGE}`;
export const NOBODY_CAME = `You were interrupted for a person, who then did not attach. ${RESUME_MESSAGE}`;

function restartClock(world: EngineContext, agent: AgentRun): Event[] {
  const run = findOwnerPipeline(world, agent);
  return run === undefined || timersOf(world.state, run.id).length > 0 ? [] : setStepTimer(world, run);
}
