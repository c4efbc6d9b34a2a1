import { createExitSignal } from '../../protocol/exit-signal/exit-signal-shape.ts';
import { type Caller, checkClaim } from '../caller.ts';
import { event } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { Rules } from '../rules.ts';
import type { State } from '../state.ts';
import { refuseUnknownTask } from '../tasks/create-task.ts';
import { decideExitSession, type ExitSession } from '../tasks/exit-session.ts';
import { usesExitProtocol } from '../tasks/task.ts';
import { decideUpdateTask } from '../tasks/update-task.ts';
import { type AgentRun, isAttached, isAttaching } from './agent-run.ts';
import { findTimers, type TimerPurpose } from './effect.ts';
import { findAgent, findReportedAgent } from './find-run.ts';
import { findSilenceDecision } from './open-decisions.ts';
import { refuseAnswered } from './pending-answer.ts';
import { findOption } from './resolve-decision.ts';
import type { RunOutcome } from './run-event.ts';

export interface SignalAgent {
  /** Default: the caller's own agent. */
  readonly agentId?: string;
  readonly signal: 'complete' | 'escalate' | 'continue';
  readonly message?: string;
  readonly exitProtocol: boolean;
  readonly eventId: string;
  readonly at: string;
  /** The measurement of the session that the signal ends; absent if the session's start is unknown. */
  readonly measures?: Pick<ExitSession, 'committed' | 'violations' | 'measured'>;
}

type Signalled = Outcome<{ readonly kind: SignalAgent['signal'] }>;

/** An agent's signal about its own run. Under a claim, `complete` also ends the session. */
export function decideSignalAgent(state: State, command: SignalAgent, caller: Caller, rules: Rules): Signalled {
  const speaker = findReportedAgent(state, caller, command.agentId);
  if (!speaker.ok) return speaker;
  const agent = speaker.answer;
  const session = sessionOf(state, agent, caller);
  if (agent === undefined && session === undefined) return NOBODY;
  switch (command.signal) {
    case 'complete':
      return decideComplete(state, command, agent, session, rules);
    case 'escalate':
      return decideEscalate(state, command, agent, session, rules);
    case 'continue':
      return decideContinue(state, command, agent, session);
  }
}

type SessionCaller = Caller & { readonly kind: 'session' };

/** Returns the run's live claim. An ended claim does not prevent the agent's last signal. */
function sessionOf(state: State, agent: AgentRun | undefined, caller: Caller): SessionCaller | undefined {
  if (agent === undefined) return caller.kind === 'session' ? caller : undefined;
  if (agent.task === null) return undefined;
  const { task_id: taskId, epoch, session_id: sessionId } = agent.task;
  const isLive = state.tasks.get(taskId)?.claim?.sessionId === sessionId;
  return isLive ? { kind: 'session', sessionId, taskId, epoch } : undefined;
}

function decideComplete(
  state: State,
  command: SignalAgent,
  agent: AgentRun | undefined,
  session: SessionCaller | undefined,
  rules: Rules,
): Signalled {
  if (agent?.signal?.kind === 'complete' || agent?.outcome === 'done') return acknowledge('complete');
  if (session === undefined) return agent === undefined ? NOBODY : signalled(agent, 'complete', command);
  if (state.sessions.get(session.sessionId)?.exit) return acknowledge('complete');
  const held = checkSession(state, session);
  if (!held.ok) return held;
  if (usesExitProtocol(state.tasks.get(session.taskId), command.exitProtocol))
    return refusal('missing', 'cannot complete: missing exit signal', 'Run: baton emit exit');
  const signal = createExitSignal(held.answer, 'completed');
  const exit = {
    signal: command.message === undefined ? signal : signal.withNotes(command.message),
    eventId: command.eventId,
    at: command.at,
    ...(command.measures ?? { committed: false, violations: [] }),
  };
  const outcome = decideExitSession(state, exit, session, rules);
  return outcome.ok ? decided(outcome.events, { kind: 'complete' }) : outcome;
}

/** Opens a decision, or blocks the task if the session has no run of Baton's. */
function decideEscalate(
  state: State,
  command: SignalAgent,
  agent: AgentRun | undefined,
  session: SessionCaller | undefined,
  rules: Rules,
): Signalled {
  if (agent !== undefined) {
    const isAsked = agent.parked !== null && findSilenceDecision(state, agent) === undefined;
    return isAsked ? acknowledge('escalate') : signalled(agent, 'escalate', command);
  }
  if (session === undefined) return NOBODY;
  const held = checkSession(state, session);
  if (!held.ok) return held;
  const notes = command.message ?? 'the agent asks for a person';
  const blocked = decideUpdateTask(state, { task_id: session.taskId, status: 'blocked', notes }, session, rules);
  if (!blocked.ok) return blocked;
  const asked = event('AgentSignalled', { agent_id: session.sessionId, kind: 'escalate', message: notes });
  return decided([asked, ...blocked.events], { kind: 'escalate' });
}

/** Cancels actions that were scheduled because the agent seemed idle. */
function decideContinue(
  state: State,
  _command: SignalAgent,
  agent: AgentRun | undefined,
  session: SessionCaller | undefined,
): Signalled {
  if (agent !== undefined) {
    if (agent.outcome !== null) return refuseEndedAgent(agent.id, agent.outcome);
    const isIdleTimer = (purpose: TimerPurpose): boolean =>
      purpose.kind === 'handler' && purpose.agent_id === agent.id && purpose.handler === 'on_idle';
    const cancelled = findTimers(state, isIdleTimer).map(({ data }) =>
      event('TimerCancelled', { timer_id: data.timer_id }),
    );
    return decided(cancelled, { kind: 'continue' });
  }
  const held = session === undefined ? NOBODY : checkSession(state, session);
  return held.ok ? acknowledge('continue') : held;
}

function checkSession(state: State, session: SessionCaller) {
  const task = state.tasks.get(session.taskId);
  if (task === undefined) return refuseUnknownTask(session.taskId);
  const held = checkClaim(task, session);
  return held.ok ? decided([], task.phase) : held;
}

function signalled(
  agent: AgentRun,
  kind: 'complete' | 'escalate',
  { message = null }: { message?: string | null },
): Signalled {
  if (agent.outcome !== null) return refuseEndedAgent(agent.id, agent.outcome);
  return decided([event('AgentSignalled', { agent_id: agent.id, kind, message })], { kind });
}

function acknowledge(kind: SignalAgent['signal']): Signalled {
  return decided([], { kind });
}

function refuseEndedAgent(id: string, outcome: RunOutcome): ReturnType<typeof refusal> {
  return refusal(
    'agent-ended',
    `the run of agent ${id} is over: ${outcome}`,
    'Stop working: nothing is left to do in this run.',
  );
}

const NOBODY = refusal(
  'no-claim',
  'only a session that holds a claim, or an agent that Baton runs, can do this',
  'Claim a task: baton task claim',
);

/** Sends a message to an agent. If the agent waits for a person, the message is the answer. */
export function decideSendMessage(
  state: State,
  { agentId, messageId, text }: { readonly agentId: string; readonly messageId: string; readonly text: string },
): Outcome<{ readonly id: string }> {
  const found = findAgent(state, agentId);
  if (!found.ok) return found;
  const agent = found.answer;
  if (agent.outcome !== null) return refuseEndedAgent(agentId, agent.outcome);
  if (text.trim() === '') return refusal('empty-message', 'a message needs a text', 'Write what the agent should do.');
  const answer = { id: agentId };
  const decision = state.decisions.get(agent.parked ?? '');
  if (decision === undefined)
    return decided([event('MessageRequested', { message_id: messageId, agent_id: agentId, text })], answer);
  if (decision.answer !== undefined) return refuseAnswered(decision, decision.answer);
  const option = findOption(decision, 'nudge', 'resume');
  const action = decision.options[(option ?? 0) - 1]?.action;
  if (option === undefined || action === undefined) {
    const message = `agent ${agentId} waits for decision ${decision.id}, which a message does not answer`;
    return refusal('agent-parked', message, `See its options: baton decision show ${decision.id}`);
  }
  return decided([event('DecisionResolved', { decision_id: decision.id, option, action, message: text })], answer);
}

export interface KilledAgent {
  readonly id: string;
  /** The outcome, if the run had already ended. */
  readonly outcome?: RunOutcome;
}

interface KillAgent {
  readonly agentId: string;
  readonly reason?: string;
}

/** Ends the process and the run, once. */
export function decideKillAgent(state: State, { agentId, reason }: KillAgent): Outcome<KilledAgent> {
  const found = findAgent(state, agentId);
  if (!found.ok) return found;
  const { killed, outcome, process } = found.answer;
  const why = reason ?? 'killed by an operator';
  const isOver = outcome !== null && (killed || process === 'gone');
  if (isOver) return decided([], { id: agentId, outcome });
  return decided([event('AgentKillRequested', { agent_id: agentId, reason: why })], { id: agentId });
}

interface AttachAgent {
  readonly agentId: string;
  /** The user and their terminal, to show to the next user who asks. */
  readonly by: string;
}

/** Records a user's request for an agent's conversation, for one user at a time: process number `start` is theirs. */
export function decideAttachAgent(
  state: State,
  { agentId, by }: AttachAgent,
): Outcome<{ readonly id: string; readonly start: number }> {
  const found = findAgent(state, agentId);
  if (!found.ok) return found;
  const agent = found.answer;
  if (agent.outcome !== null) return refuseEndedAgent(agentId, agent.outcome);
  if (agent.attach !== null && (isAttached(agent) || isAttaching(agent))) {
    const message = `agent ${agentId} is attached already: ${agent.attach.by}, since ${agent.attach.at}`;
    return refusal('agent-attached', message, `Follow its output: baton agent logs -f ${agentId}`);
  }
  const start = agent.start + 1;
  return decided([event('AgentAttachRequested', { agent_id: agentId, start, by })], { id: agentId, start });
}
