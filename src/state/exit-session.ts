import { agentSessionCompleted, type AgentSessionCompleted } from '../protocol/agent-session-completed.ts';
import type { ExitSignal } from '../protocol/exit-signal-shape.ts';
import { nextPhase, type Phase } from '../protocol/phase.ts';
import type { Caller } from './caller.ts';
import { endClaim, moveTo } from './claim-task.ts';
import type { Event, Requirement } from './event.ts';
import { event } from './event.ts';
import { decided, refusal, type Outcome, type Refusal } from './outcome.ts';
import type { Rules } from './rules.ts';
import type { State } from './state.ts';
import { writebacks, type Claim, type Task } from './task.ts';
import { requireGates, requireWriteback } from './writeback.ts';

export interface ExitSession {
  readonly signal: ExitSignal;
  readonly eventId: string;
  readonly at: string;
  /** Whether the session committed anything: then its thought record is owed. Measured, not claimed. */
  readonly committed: boolean;
  /** What Baton's measurements found against the mission; empty where all is well. */
  readonly violations: readonly string[];
}

export interface ExitAnswer {
  readonly next_phase: Phase | null;
  readonly exit_reason: ExitSignal['exit_reason'];
}

/** Checks 9 to 12 of the specification, then the one transaction in which a session ends. */
export function decideExitSession(
  state: State,
  command: ExitSession,
  caller: Caller,
  rules: Rules,
): Outcome<ExitAnswer> {
  const { signal } = command;
  const session = caller.kind === 'session' ? state.sessions.get(caller.sessionId) : undefined;
  if (session?.exit && isRepeat(session.exit, signal)) return decided([], answerOf(session.exit));
  const task = session === undefined ? undefined : state.tasks.get(session.taskId);
  const claim = task?.claim?.sessionId === session?.id ? task?.claim : undefined;
  if (session === undefined || task === undefined || !claim) {
    return refusal(
      'no-active-phase',
      'session has no active work phase',
      'The claim has ended: stop working on this task.',
    );
  }
  if (signal.phase_completed !== task.phase) {
    const message = `phase mismatch: exit signal claims '${signal.phase_completed}' but session is in '${task.phase}'`;
    return refusal('phase-mismatch', message, `Send phase_completed: ${task.phase}.`);
  }
  const obstacle = signal.exit_reason === 'completed' ? findMissing(task, claim, command, rules) : undefined;
  if (obstacle) return { ok: false, refusal: obstacle };
  return end(task, claim, command);
}

/** Equal after parsing. The version says how the signal was written, not what it says. */
function isRepeat(exit: AgentSessionCompleted, signal: ExitSignal): boolean {
  return (
    exit.phase_completed === signal.phase_completed &&
    (exit.claimed_exit_reason ?? exit.exit_reason) === signal.exit_reason &&
    exit.pr_url === signal.pr_url &&
    exit.evidence_bundle_ref === signal.evidence_bundle_ref &&
    exit.notes === signal.notes
  );
}

function answerOf({ next_phase, exit_reason }: AgentSessionCompleted): ExitAnswer {
  return { next_phase, exit_reason };
}

/** Check 12, and the gates: what stands between this session and a completed phase. */
function findMissing(task: Task, claim: Claim, { committed }: ExitSession, rules: Rules): Refusal | undefined {
  const owed: readonly Requirement[] = committed ? [...claim.requires, 'thought_record'] : claim.requires;
  const missing = [...new Set(owed)].filter((requirement) => !isThere(requirement, task, claim));
  if (missing.length > 0) {
    const message = `cannot complete: missing ${missing.join(', ')}`;
    return { code: 'missing', message, hint: 'Send what is missing, then the exit signal again.' };
  }
  if (task.phase === 'CI_PENDING' && rules.ciGate) {
    return { code: 'ci-gate', message: 'CI_PENDING is completed by CI', hint: 'Stop here: CI runs by itself.' };
  }
  if (nextPhase(task.phase, 'completed') !== 'COMPLETED') return undefined;
  const written = requireWriteback(task, claim);
  if (!written.ok) return written.refusal;
  const passed = requireGates(task, rules);
  return passed.ok ? undefined : passed.refusal;
}

function isThere(requirement: Requirement, task: Task, claim: Claim): boolean {
  switch (requirement) {
    case 'exit':
      return true;
    case 'result':
      return claim.resultStatus !== null;
    case 'handoff':
      return claim.handoff !== null;
    case 'thought_record':
      return writebacks(task).some((record) => record.epoch === claim.epoch);
  }
}

/** One transaction: the entry, the phase, the handoff, the end of the claim. */
function end(task: Task, claim: Claim, command: ExitSession): Outcome<ExitAnswer> {
  const { signal, eventId, at } = command;
  const failure = signal.exit_reason === 'completed' ? findFailure(claim, command) : undefined;
  const judged: ExitSignal = failure === undefined ? signal : { ...signal, exit_reason: 'error' };
  const reason = failure ?? signal.notes ?? null;
  const handoff = judged.exit_reason === 'completed' ? claim.handoff : null;
  const arrow = nextPhase(task.phase, judged.exit_reason) ?? null;
  const to = handoff?.phase ?? arrow;
  const facts = { eventId, at, taskId: task.id, epoch: claim.epoch };
  const completed: AgentSessionCompleted = {
    ...agentSessionCompleted(claim.sessionId, `session:${claim.sessionId}`, judged, facts),
    ...(failure === undefined ? {} : { claimed_exit_reason: signal.exit_reason }),
    next_phase: to,
  };
  const how = { completed: 'completed', blocked: 'blocked', error: 'failed' } as const;
  const events: Event[] = [event('AgentSessionCompleted', completed)];
  if (handoff !== null) events.push(event('HandoffDelivered', handoff));
  events.push(...endClaim(task, claim, how[judged.exit_reason], reason));
  if (to !== null)
    events.push(moveTo(task, to, reason ?? 'exit signal', handoff === null ? nextRole(task, to) : handoff.next_role));
  return decided(events, { next_phase: to, exit_reason: judged.exit_reason });
}

function findFailure(claim: Claim, { violations }: ExitSession): string | undefined {
  if (violations.length > 0) return violations.join('; ');
  const { resultStatus } = claim;
  return resultStatus === null || resultStatus === 'completed' ? undefined : `the result says ${resultStatus}`;
}

/** Without a handoff the turn passes to nobody in particular; a blocked task keeps the role it was blocked in. */
function nextRole(task: Task, to: Phase): string | null {
  return to === 'BLOCKED' ? task.nextRole : null;
}
