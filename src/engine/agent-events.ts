import { MAX_BLOCKS } from '../protocol/decide-stop.ts';
import { type HandlerName, type HandlerPlan, HANDLERS } from '../protocol/run-plan.ts';
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
import { escalate } from './decisions/escalate.ts';
import { fireHandler, handlerPlan, isAtWork } from './handlers.ts';
import { CONTINUE_MESSAGE, resumeAgent, sendOrResume, unparkAgent } from './resume.ts';

/**
 * On `AgentExited`. Nothing follows if the run is over or waits for a person or an API limit. If the process was
 * allowed to exit, or an error ended it, before a message reached it, the message goes to its next process. If a person
 * has or requested the conversation, it is handed over or taken back. Any other agent that exits without a signal is
 * dead, even if it used up its blocks.
 */
export function onExit(world: EngineContext, agent: AgentRun, data: EventOf<'AgentExited'>['data']): Event[] {
  const left = cancelLeaveTimer(world, agent.id);
  if (agent.attach?.start === data.start) return [...left, ...endAttachment(world, agent)];
  // A person requested the conversation, so Baton stopped the process.
  if (isAttaching(agent) && data.start === agent.start) return [...left, ...startAttachedProcess(world, agent)];
  if (data.start !== agent.start || agent.outcome !== null || agent.parked !== null) return left;
  if (data.timed_out) return [...left, ...endAgent(world, agent, 'failed', 'timed out')];
  // A person requested the restart.
  if (agent.restart !== undefined) return [...left, resumeAgent(agent, null, false)];
  const pending = pendingActions(world.state, agent.id);
  const moot = pending.filter((each) => appliesWhileRunning(findWaitingHandler(each)));
  const calledOff = [...left, ...cancelPending(moot)];
  if (pending.some((each) => findWaitingHandler(each) === 'on_error')) return calledOff;
  const mayLeave = data.code === 0 || hasAnsweredError(world, agent);
  const isUnheard = mayLeave && undeliveredMessages(world.state, agent.id).length > 0;
  if (agent.recovering || isUnheard) return [...calledOff, ...resumeAfterError(world, agent)];
  const plan = escalateIfBlocksUsed(handlerPlan(agent.plan, 'on_dead', null), hasUsedBlocks(world, agent));
  const how = data.signal === null ? `exit code ${data.code ?? 'unknown'}` : `signal ${data.signal}`;
  const blocks = data.blocks_used ? ', after the limit of blocked stops' : '';
  const message = `Agent ended without signaling completion (${how}${blocks})`;
  const firing = { handler: 'on_dead', plan, source: 'dead', message, details: data.output } as const;
  return [...calledOff, ...fireHandler(world, agent, firing)];
}

function appliesWhileRunning(handler: HandlerName | undefined): boolean {
  return handler !== undefined && HANDLERS[handler].applies === 'running';
}

/** Whether the run has used all its blocks. A new process would only be blocked again. */
function hasUsedBlocks({ rules }: EngineContext, { blocks }: AgentRun): boolean {
  return blocks >= (rules.maxBlocks ?? MAX_BLOCKS);
}

function escalateIfBlocksUsed(plan: HandlerPlan, hasUsed: boolean): HandlerPlan {
  return hasUsed && plan.action === 'resume' ? { action: 'escalate' } : plan;
}

/** Whether an error ended the agent's turn and a person resumed the agent while the process was exiting. */
function hasAnsweredError({ state }: EngineContext, { id }: AgentRun): boolean {
  const last = [...state.decisions.values()].findLast(({ agentId }) => agentId === id);
  return last?.source === 'error' && last.result?.kind === 'resolved';
}

/** On `AgentStartFailed`: no process existed, so `on_dead` does not apply. */
export function onStartFailed(world: EngineContext, agent: AgentRun, reason: string): Event[] {
  if (agent.attach?.start === agent.start) return endAttachment(world, agent);
  if (agent.parked !== null && isAttaching(agent)) return startAttachedProcess(world, agent);
  return agent.parked === null ? endAgent(world, agent, 'failed', `could not be started: ${reason}`) : [];
}

export function onError(world: EngineContext, agent: AgentRun, data: EventOf<'AgentErrored'>['data']): Event[] {
  const { error, reset_at: resetAt } = data;
  const plan = handlerPlan(agent.plan, 'on_error', error);
  const message = `Agent stopped on an error: ${error}${data.message === '' ? '' : `: ${data.message}`}`;
  return fireHandler(world, agent, { handler: 'on_error', plan, source: 'error', message, error, resetAt });
}

/** On the `reset` timer: the limit has ended, and the agent continues its conversation. */
export function onReset(world: EngineContext, agent: AgentRun): Event[] {
  if (!isAtWork(agent)) return [];
  const { message = CONTINUE_MESSAGE } = handlerPlan(agent.plan, 'on_error', 'rate_limited');
  return [sendOrResume(world, agent, message)];
}

/** If a client exited after an error before it received its messages, its next process gets them. */
function resumeAfterError({ state }: EngineContext, agent: AgentRun): Event[] {
  const unheard = undeliveredMessages(state, agent.id);
  const message = unheard.map(({ data }) => data.text).join('\n\n') || null;
  const passed = unheard.map(({ data: { message_id, agent_id } }) =>
    event('MessageDelivered', { message_id, agent_id, ok: false, reason: 'the process of the agent has ended' }),
  );
  return [...passed, resumeAgent(agent, message, false)];
}

/** The agent waits for input, or tried to stop with `on_stop: idle`. Waiting for an API limit or a gate is not idle. */
export function onIdle(world: EngineContext, agent: AgentRun): Event[] {
  if (pendingActions(world.state, agent.id).some((each) => findWaitingHandler(each) !== undefined)) return [];
  const plan = handlerPlan(agent.plan, 'on_idle', null);
  const message = 'Agent is idle and has not signaled completion';
  return fireHandler(world, agent, { handler: 'on_idle', plan, source: 'idle', message });
}

/** On `AgentPrompted`: the client requests a permission or asks a question. */
export function onPrompt(world: EngineContext, agent: AgentRun, prompt: string): Event[] {
  const plan = handlerPlan(agent.plan, 'on_prompt', null);
  const message = `Agent asks: ${prompt}`;
  return fireHandler(world, agent, { handler: 'on_prompt', plan, source: 'prompt', message });
}

/** On `AgentStop`: the agent tried to end its turn, and only a person may allow that. */
export function onStop(world: EngineContext, agent: AgentRun): Event[] {
  const message = agent.plan.on_stop?.message ?? 'Agent tried to stop without signaling completion';
  return escalate(world, agent, { source: 'stop', reason: 'on_stop: escalate', message });
}

/** Asks a person, because the agent would wait forever. If the process has exited, its exit is handled instead. */
export function onUndelivered(world: EngineContext, agent: AgentRun, reason: string | null): Event[] {
  if (agent.process !== 'running') return [];
  const message = `A message could not be delivered${reason === null ? '' : `: ${reason}`}`;
  return escalate(world, agent, { source: 'idle', reason: 'message not delivered', message });
}

/** Asks a person. During an API limit, a gate or a cooldown silence is expected, and is reported again if it lasts. */
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

/** On `AgentHeard`: withdraws the decision about the silence, and the agent continues. */
export function onHeard(world: EngineContext, agent: AgentRun): Event[] {
  const asked = findSilenceDecision(world.state, agent);
  if (asked === undefined) return [];
  const withdrawn = event('DecisionWithdrawn', { decision_id: asked.id, reason: 'the agent became active again' });
  return [withdrawn, ...unparkAgent(world, agent, 'agent')];
}

/** Ends the silent process. The next one continues its conversation. */
export function restartSilentAgent(agent: AgentRun, message: string | null): Event {
  const text = message ?? RESTARTED;
  if (agent.process === 'gone') return resumeAgent(agent, text, false);
  return event('AgentRestartRequested', { agent_id: agent.id, start: agent.start, message: text });
}

export const RESTARTED =
  'You were restarted because you showed no activity for a long time. Continue where you stopped; check what your last step ' +
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
