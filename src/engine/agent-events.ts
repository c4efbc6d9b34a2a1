import { MAX_BLOCKS } from '../protocol/decide-stop.ts';
import type { HandlerPlan } from '../protocol/run-plan.ts';
import { type Event, event, type EventOf } from '../state/event.ts';
import { type AgentRun, isAttaching } from '../state/runs/agent-run.ts';
import { type DecisionOption, OPTION_LABELS } from '../state/runs/decision.ts';
import { findSilenceDecision } from '../state/runs/open-decisions.ts';
import { endAttachment, startAttachedProcess } from './attach.ts';
import {
  cancelPending,
  type EngineContext,
  findWaitingHandler,
  pendingActions,
  undeliveredMessages,
} from './context.ts';
import { cancelLeaveTimer, endAgent } from './end-agent.ts';
import { escalate } from './escalate.ts';
import { fireHandler, handlerPlan, isAtWork } from './handlers.ts';
import { CONTINUE_MESSAGE, resumeAgent, sendOrResume, unparkAgent } from './resume.ts';

/**
 * On `AgentExited`. The end of a process whose run is over, or that waits for a person, changes nothing; nor does that of one that
 * waits for an API. One that was allowed to leave, or that an error ended, and that did not hear any more what it was told, an answer that
 * came while it left, hears it in its next process. Where a person has the conversation, or wants it, it goes to them, or comes back from
 * them. Any other agent that leaves without a signal is dead, also where its blocks were used up.
 */
export function onExit(world: EngineContext, agent: AgentRun, data: EventOf<'AgentExited'>['data']): Event[] {
  const left = cancelLeaveTimer(world, agent.id);
  if (agent.attach?.start === data.start) return [...left, ...endAttachment(world, agent)];
  // A person waits for its conversation: that it stopped is what was wanted.
  if (isAttaching(agent) && data.start === agent.start) return [...left, ...startAttachedProcess(world, agent)];
  if (data.start !== agent.start || agent.outcome !== null || agent.parked !== null) return left;
  if (data.timed_out) return [...left, ...endAgent(world, agent, 'failed', 'timed out')];
  // A person had it restarted: its end was wanted.
  if (agent.restart !== undefined) return [...left, resumeAgent(agent, null, false)];
  const pending = pendingActions(world.state, agent.id);
  const moot = pending.filter((each) => ['on_idle', 'on_prompt'].includes(findWaitingHandler(each) ?? ''));
  const calledOff = [...left, ...cancelPending(moot)];
  if (pending.some((each) => findWaitingHandler(each) === 'on_error')) return calledOff;
  const mayLeave = data.code === 0 || hasAnsweredError(world, agent);
  const isUnheard = mayLeave && undeliveredMessages(world.state, agent.id).length > 0;
  if (agent.recovering || isUnheard) return [...calledOff, ...resumeAfterError(world, agent)];
  const plan = escalateIfBlocksUsed(handlerPlan(agent.plan, 'on_dead', null), hasUsedBlocks(world, agent));
  const how = data.signal === null ? `exit code ${data.code ?? 'unknown'}` : `signal ${data.signal}`;
  const blocks = data.blocks_used ? ', after its blocks were used up' : '';
  const message = `Agent ended without signaling completion (${how}${blocks})`;
  const firing = { handler: 'on_dead', plan, source: 'dead', message, details: data.output } as const;
  return [...calledOff, ...fireHandler(world, agent, firing)];
}

/** A run that has used all its blocks would only use the next process in the same way. */
function hasUsedBlocks({ rules }: EngineContext, { blocks }: AgentRun): boolean {
  return blocks >= (rules.maxBlocks ?? MAX_BLOCKS);
}

function escalateIfBlocksUsed(plan: HandlerPlan, hasUsed: boolean): HandlerPlan {
  return hasUsed && plan.action === 'resume' ? { action: 'escalate' } : plan;
}

/** An error ended its turn, and a person let it go on while the process was on its way out. */
function hasAnsweredError({ state }: EngineContext, { id }: AgentRun): boolean {
  const last = [...state.decisions.values()].findLast(({ agentId }) => agentId === id);
  return last?.source === 'error' && last.result?.kind === 'resolved';
}

/** On `AgentStartFailed`: there was never a process that could die. */
export function onStartFailed(world: EngineContext, agent: AgentRun, reason: string): Event[] {
  if (agent.attach?.start === agent.start) return endAttachment(world, agent);
  if (agent.parked !== null && isAttaching(agent)) return startAttachedProcess(world, agent);
  return agent.parked === null ? endAgent(world, agent, 'failed', `could not be started: ${reason}`) : [];
}

/** On `AgentErrored`: the API does not let it go on. */
export function onError(world: EngineContext, agent: AgentRun, data: EventOf<'AgentErrored'>['data']): Event[] {
  const { error, reset_at: resetAt } = data;
  const plan = handlerPlan(agent.plan, 'on_error', error);
  const message = `Agent stopped on an error: ${error}${data.message === '' ? '' : `: ${data.message}`}`;
  return fireHandler(world, agent, { handler: 'on_error', plan, source: 'error', message, error, resetAt });
}

/** On the `reset` timer: the limit is lifted, and the agent goes on in its conversation. */
export function onReset(world: EngineContext, agent: AgentRun): Event[] {
  if (!isAtWork(agent)) return [];
  const { message = CONTINUE_MESSAGE } = handlerPlan(agent.plan, 'on_error', 'rate_limited');
  return [sendOrResume(world, agent, message)];
}

/** A client that leaves after an error, before it heard that it is to go on, hears it in its next process. */
export function resumeAfterError({ state }: EngineContext, agent: AgentRun): Event[] {
  const unheard = undeliveredMessages(state, agent.id);
  const message = unheard.map(({ data }) => data.text).join('\n\n') || null;
  const passed = unheard.map(({ data: { message_id, agent_id } }) =>
    event('MessageDelivered', { message_id, agent_id, ok: false, reason: 'its process has gone' }),
  );
  return [...passed, resumeAgent(agent, message, false)];
}

/**
 * On `AgentIdle`: it waits for input, or it tried to stop and `on_stop` says `idle`. One that waits because a handler is busy with it,
 * until an API lets it go on or until a gate has judged its prompt, is not idle.
 */
export function onIdle(world: EngineContext, agent: AgentRun): Event[] {
  if (pendingActions(world.state, agent.id).some((each) => findWaitingHandler(each) !== undefined)) return [];
  const plan = handlerPlan(agent.plan, 'on_idle', null);
  const message = 'Agent is idle and has not signaled completion';
  return fireHandler(world, agent, { handler: 'on_idle', plan, source: 'idle', message });
}

/** On `AgentPrompted`: it asks for a permission, or a question. */
export function onPrompt(world: EngineContext, agent: AgentRun, prompt: string): Event[] {
  const plan = handlerPlan(agent.plan, 'on_prompt', null);
  const message = `Agent asks: ${prompt}`;
  return fireHandler(world, agent, { handler: 'on_prompt', plan, source: 'prompt', message });
}

/** On `AgentStop`: it tried to end its turn where only a person may let it. */
export function onStop(world: EngineContext, agent: AgentRun): Event[] {
  const message = agent.plan.on_stop?.message ?? 'Agent tried to stop without signaling completion';
  return escalate(world, agent, { source: 'stop', reason: 'on_stop: escalate', message });
}

/** On a message that did not reach a running agent: it would wait for it for ever. One whose process has gone is dealt with by its exit. */
export function onUndelivered(world: EngineContext, agent: AgentRun, reason: string | null): Event[] {
  if (agent.process !== 'running') return [];
  const message = `A message could not be delivered${reason === null ? '' : `: ${reason}`}`;
  return escalate(world, agent, { source: 'idle', reason: 'message not delivered', message });
}

/**
 * On `AgentSilent`: a person is asked. An agent that waits for a rate limit, a gate or a cooldown is expected to be silent; its supervisor
 * reports again if it stays silent after that.
 */
export function onSilent(world: EngineContext, agent: AgentRun, data: EventOf<'AgentSilent'>['data']): Event[] {
  const isExpected = pendingActions(world.state, agent.id).some((each) => findWaitingHandler(each) !== undefined);
  if (isExpected || agent.limited || !isAtWork(agent)) return [];
  const { what, tool } = data;
  const time = minutesOf(data.for_ms);
  const isTool = what === 'tool';
  const message = isTool
    ? `A tool call of the agent has been open for ${time}${tool === null || tool === '' ? '' : `: ${tool}`}`
    : `The agent has been silent for ${time} in the middle of a turn: no output, hook, usage or tool event`;
  return escalate(world, agent, {
    source: 'idle',
    reason: isTool ? 'limits.tool' : 'limits.silence',
    message,
    options: isTool ? [WAIT, ...OTHERS] : [RESUME, WAIT, ...OTHERS.filter((each) => each !== RESUME)],
    untilHeard: true,
  });
}

/** On `AgentHeard`: withdraws the decision about the silence. The agent continues. */
export function onHeard(world: EngineContext, agent: AgentRun): Event[] {
  const asked = findSilenceDecision(world.state, agent);
  if (asked === undefined) return [];
  const withdrawn = event('DecisionWithdrawn', { decision_id: asked.id, reason: 'the agent was heard again' });
  return [withdrawn, ...unparkAgent(world, agent, 'agent')];
}

/** Ends the process that is silent; the next one continues its conversation. */
export function restartSilentAgent(agent: AgentRun, message: string | null): Event {
  const text = message ?? RESTARTED;
  if (agent.process === 'gone') return resumeAgent(agent, text, false);
  return event('AgentRestartRequested', { agent_id: agent.id, start: agent.start, message: text });
}

export const RESTARTED =
  'You were restarted because nothing was heard from you for a long time. Continue where you stopped; check what your last step ' +
  'has changed before you repeat it.';

type Option = Omit<DecisionOption, 'recommended'>;

const WAIT: Option = { label: 'Wait longer', action: 'dismiss' };
const RESUME: Option = { label: 'Resume in a new process', action: 'resume' };
const OTHERS: readonly Option[] = [
  { label: OPTION_LABELS.nudge, action: 'nudge' },
  RESUME,
  { label: OPTION_LABELS.retry, action: 'retry' },
  { label: OPTION_LABELS.cancel, action: 'cancel' },
];

function minutesOf(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes === 0) return `${Math.round(ms / 1000)} s`;
  return `${minutes} min`;
}
