import { type AgentSessionCompleted, createAgentSessionCompleted } from '../../protocol/agent-session-completed.ts';
import type { ExitSignal } from '../../protocol/exit-signal/exit-signal-shape.ts';
import { findReportedError, isErrorHandoff, type ReportedError, summarizeError } from '../../protocol/handoff/index.ts';
import { type ExitReason, nextPhase, type Phase } from '../../protocol/phase.ts';
import type { Caller } from '../caller.ts';
import { type Event, event } from '../event.ts';
import { decided, type Outcome, refusal, type Refusal } from '../outcome.ts';
import type { Rules } from '../rules.ts';
import type { State } from '../state.ts';
import { checkIsReviewed, requestMerge } from '../workflow/merge.ts';
import type { WorkflowEvents } from '../workflow/workflow-event.ts';
import { endClaim, phaseMovedEvent } from './claim-task.ts';
import { checkMayJudge, checkRoleTurn } from './judging.ts';
import { evidenceRecordedEvent, type SessionEvidence } from './record-evidence.ts';
import { handoffPhase } from './send-handoff.ts';
import { type Claim, type HeldHandoff, isApproval, JUDGED_PHASES, type Task } from './task.ts';
import {
  checkGates,
  checkWriteback,
  findMissingMessages,
  isMerged,
  needsCommit,
  refuseMissing,
  type RuleCheck,
} from './writeback.ts';

export interface ExitSession {
  readonly signal: ExitSignal;
  readonly eventId: string;
  readonly at: string;
  /** Whether the session made commits, as measured; it then owes a thought record. */
  readonly committed: boolean;
  readonly violations: readonly string[];
  /** Absent if the signal names no bundle, and for a repeat. */
  readonly evidence?: SessionEvidence;
  /** Absent if the session's start is unknown. */
  readonly measured?: Omit<WorkflowEvents['SessionMeasured'], 'task_id' | 'epoch' | 'session_id' | 'violations'>;
}

export interface ExitAnswer {
  readonly next_phase: Phase | null;
  readonly exit_reason: ExitSignal['exit_reason'];
}

/** Runs checks 9 to 12 of the specification, then the transaction that ends a session. */
export function decideExitSession(
  state: State,
  command: ExitSession,
  caller: Caller,
  rules: Rules,
): Outcome<ExitAnswer> {
  const { signal } = command;
  const session = caller.kind === 'session' ? state.sessions.get(caller.sessionId) : undefined;
  if (session?.exit && isSameSignal(session.exit, signal)) return decided([], answerOf(session.exit));
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
  const isByHand = !state.agents.has(session.id) && !state.pipelines.has(session.id);
  const owesRecord = command.committed || (isByHand && entersGate(task, claim, rules));
  const missing = signal.exit_reason === 'completed' ? findMissingMessages(task, claim, owesRecord) : [];
  if (missing.length > 0) return refuseMissing(missing);
  return endSession(state, task, claim, command, rules);
}

/** Compares parsed signals, without the version: it states how a signal was written, not what it means. */
export function isSameSignal(exit: AgentSessionCompleted, signal: ExitSignal): boolean {
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

/**
 * Reports whether the work enters a gate that needs a commit. Baton measures the commits of its own sessions. For a
 * claim by hand only the record names the commit to check and merge.
 */
function entersGate(task: Task, { handoff }: Claim, rules: Rules): boolean {
  return needsCommit(task, destinationOf(task, 'completed', handoff), rules);
}

/** Ends the session in one transaction: the entry, the phase, the handoff, the end of the claim. */
function endSession(state: State, task: Task, claim: Claim, command: ExitSession, rules: Rules): Outcome<ExitAnswer> {
  const { signal, eventId, at } = command;
  const failure = signal.exit_reason === 'completed' ? findFailure(claim, command) : undefined;
  const exit_reason = failure === undefined ? signal.exit_reason : 'error';
  const handoff = isDelivered(claim, exit_reason) ? claim.handoff : null;
  const to = destinationOf(task, exit_reason, handoff);
  const judge = isApproval(task.phase, to) ? checkExitApprover(state, task, claim, rules) : decided([], null);
  const seen = observedEvents(task, claim, command);
  if (handoff !== null && to === 'COMPLETED' && task.phase === 'READY_FOR_MERGE' && isMerged(task, rules)) {
    const reviewed = judge.ok ? checkIsReviewed(task, claim.principal) : judge;
    const asked = reviewed.ok ? askForMerge(task, claim, command, rules, seen) : reviewed;
    // Without an approval that names a commit, the commit counts with which the task came to the merge.
    const same = asked.ok ? checkJudgedHead(task, 'READY_FOR_MERGE', command.measured?.head) : asked;
    return same.ok ? asked : same;
  }
  const judged = checkJudgedHead(task, to, command.measured?.head);
  if (!judged.ok) return judged;
  const closed = to === null ? undefined : findClosedGate(task, claim, to, rules);
  if (closed) return { ok: false, refusal: closed };
  if (!judge.ok) return judge;
  const facts = { eventId, at, taskId: task.id, epoch: claim.epoch };
  const completed: AgentSessionCompleted = {
    ...createAgentSessionCompleted(claim.sessionId, `session:${claim.sessionId}`, { ...signal, exit_reason }, facts),
    ...(failure === undefined ? {} : { claimed_exit_reason: signal.exit_reason }),
    next_phase: to,
  };
  const error = handoff === null ? undefined : findReportedError(handoff);
  const reason = failure ?? signal.notes ?? (error === undefined ? null : summarizeError(error));
  const delivered = handoff === null ? [] : [event('HandoffDelivered', handoff)];
  const left = handoff === null ? claim : { ...claim, handoff: null };
  const ended = endClaim(task, left, HOW_CLAIM_ENDS[exit_reason], reason);
  const moved =
    handoff === null
      ? moveByExitSignal(task, to, exit_reason, reason)
      : moveByHandoff(handoff, task, to, error === undefined ? reason : describeError(error, failure));
  return decided([...seen, event('AgentSessionCompleted', completed), ...delivered, ...ended, ...moved], {
    next_phase: to,
    exit_reason,
  });
}

/**
 * Reports whether the handoff is delivered. An error handoff is delivered however the session ends, but fits `error`
 * best. Any other handoff passes finished work on.
 */
function isDelivered({ handoff }: Claim, exitReason: ExitReason): boolean {
  return exitReason === 'completed' || (handoff !== null && isErrorHandoff(handoff));
}

/** Describes the agent's reported error, followed by Baton's measurement. */
function describeError(error: ReportedError, failure: string | undefined): string {
  return failure === undefined ? summarizeError(error) : `${summarizeError(error)}; ${failure}`;
}

function checkExitApprover(state: State, task: Task, { role, principal }: Claim, rules: Rules): Outcome<null> {
  const turn = checkRoleTurn(task, role);
  return turn.ok ? checkMayJudge(state, task, principal, rules) : turn;
}

/** The entries of Baton's measurement and the session's evidence. */
function observedEvents(task: Task, claim: Claim, { measured, violations, evidence }: ExitSession): Event[] {
  const { epoch, sessionId: session_id } = claim;
  const shown = evidence === undefined ? [] : [evidenceRecordedEvent(task, claim, evidence)];
  if (measured === undefined) return shown;
  return [event('SessionMeasured', { task_id: task.id, epoch, session_id, ...measured, violations }), ...shown];
}

/**
 * Requests the merge at the end of the validator's session. The task moves, and its handoff is delivered, after the
 * merge.
 */
function askForMerge(
  task: Task,
  claim: Claim,
  { signal, eventId, at, measured }: ExitSession,
  rules: Rules,
  seen: readonly Event[],
): Outcome<ExitAnswer> {
  const head = measured?.head ?? task.flow.head;
  const asked = requestMerge({ ...task, flow: { ...task.flow, head } }, claim.handoff, `merge-${eventId}`, rules);
  if (!asked.ok) return asked;
  const facts = { eventId, at, taskId: task.id, epoch: claim.epoch };
  const completed: AgentSessionCompleted = {
    ...createAgentSessionCompleted(claim.sessionId, `session:${claim.sessionId}`, signal, facts),
    next_phase: null,
  };
  const ended = endClaim(task, { ...claim, handoff: null }, 'completed', signal.notes ?? null);
  const events = [...seen, event('AgentSessionCompleted', completed), ...asked.events, ...ended];
  return decided(events, { next_phase: null, exit_reason: signal.exit_reason });
}

const HOW_CLAIM_ENDS = { completed: 'completed', blocked: 'blocked', error: 'failed' } as const;

function findFailure(claim: Claim, { violations }: ExitSession): string | undefined {
  if (violations.length > 0) return violations.join('; ');
  const { resultStatus } = claim;
  return resultStatus === null || resultStatus === 'completed' ? undefined : `the result says ${resultStatus}`;
}

/**
 * The phase that the task moves to; null if it stays. The handoff overrides the exit reason, even if it moves nothing.
 */
function destinationOf(task: Task, reason: ExitReason, handoff: HeldHandoff | null): Phase | null {
  return handoff === null ? (nextPhase(task.phase, reason) ?? null) : handoffPhase(task, handoff);
}

/** Refuses a missing writeback on every path to COMPLETED, and other ways to complete a gated phase. */
function findClosedGate(task: Task, claim: Claim, to: Phase, rules: Rules): Refusal | undefined {
  const written: RuleCheck = to === 'COMPLETED' && task.phase !== to ? checkWriteback(task, claim) : { ok: true };
  const passed = written.ok ? checkGates(task, to, rules) : written;
  return passed.ok ? undefined : passed.refusal;
}

function moveByHandoff(handoff: HeldHandoff, task: Task, to: Phase | null, reason: string | null): Event[] {
  return to === null
    ? []
    : [
        phaseMovedEvent(
          task,
          to,
          { cause: 'handoff', reason: reason ?? `handoff from ${handoff.from}` },
          handoff.next_role,
        ),
      ];
}

/** Moves the task. A blocked task keeps its role; otherwise no role is next. */
function moveByExitSignal(task: Task, to: Phase | null, exitReason: ExitReason, reason: string | null): Event[] {
  const why = { cause: 'exit-signal', reason: reason ?? 'exit signal' } as const;
  if (to !== null) return [phaseMovedEvent(task, to, why, to === 'BLOCKED' ? task.nextRole : null)];
  const isClosed = exitReason === 'completed' && task.nextRole !== null;
  return isClosed ? [phaseMovedEvent(task, task.phase, { cause: 'closed', reason: 'closed' }, null)] : [];
}

/**
 * Refuses commits of judging roles: from the checks to the merge the work is one commit, and a later commit returns to
 * the checks and the review. Otherwise a reviewer could approve a commit that only they have seen and CI has not.
 */
function checkJudgedHead(task: Task, to: Phase | null, head: string | undefined): RuleCheck {
  const { head: judged } = task.flow;
  if (to === null || !JUDGED_PHASES.has(task.phase) || !JUDGED_PHASES.has(to)) return { ok: true };
  if (head === undefined || judged === null || head === judged) return { ok: true };
  const message = `${task.id} came to this role at ${judged.slice(0, 12)}, and its head is now ${head.slice(0, 12)}: the author of a commit cannot approve it`;
  const hint = `Send it to the fixer-agent with what should change, or remove the commits: git reset --hard ${judged.slice(0, 12)}`;
  return refusal('separation-of-duties', message, hint);
}
