import { findReportedError, summarizeError } from '../../protocol/handoff/index.ts';
import type { Phase } from '../../protocol/phase.ts';
import { type Caller, checkClaim, includesPrincipal, principalOf } from '../caller.ts';
import { event } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { Rules } from '../rules.ts';
import type { State } from '../state.ts';
import { endClaim, phaseMovedEvent } from './claim-task.ts';
import { refuseUnknownTask } from './create-task.ts';
import { checkMayJudge, isSelfApproved, judgedHead } from './judging.ts';
import { type HeldHandoff, isApproval, type Task, writebackRecords } from './task.ts';
import { refuseBlocked, refuseCompleted } from './update-task.ts';
import { checkGates, checkWriteback, needsCommit, refuseMissing, type RuleCheck } from './writeback.ts';

export interface SendHandoff {
  readonly handoffId: string;
  readonly taskId: string;
  readonly from: string;
  readonly to: string | null;
  readonly senderRole: string | null;
  readonly phase: Phase | null;
  readonly nextRole: string | null;
  readonly xml: string;
}

/** Sends a handoff. Under a claim it waits for the session's end; an operator's handoff is delivered at once. */
export function decideSendHandoff(
  state: State,
  command: SendHandoff,
  caller: Caller,
  rules: Rules,
): Outcome<{ readonly held: boolean }> {
  const task = state.tasks.get(command.taskId);
  if (task === undefined) return refuseUnknownTask(command.taskId);
  const handoff: HeldHandoff = {
    handoff_id: command.handoffId,
    task_id: task.id,
    from: command.from,
    to: command.to,
    phase: command.phase,
    next_role: command.nextRole,
    xml: command.xml,
  };
  if (caller.kind === 'operator') return deliverByOperator(state, task, handoff, command.senderRole, caller, rules);
  if (caller.kind !== 'session')
    return refusal('no-claim', 'only the holder of a claim can send a handoff', 'Claim the task first.');
  const held = checkClaim(task, caller);
  if (!held.ok) return held;
  if (held.claim.role === null || held.claim.role !== command.senderRole) {
    const message = `this session plays ${held.claim.role ?? 'no role'}, and cannot send as ${command.from}`;
    return refusal('wrong-sender', message, 'Claim the task with the role that you play: --role');
  }
  if (leavesCompleted(task, handoff)) return refuseCompleted(task);
  const judge = checkHandoffApprover(state, task, handoff, held.claim.principal, rules);
  if (!judge.ok) return judge;
  const earlier = held.claim.handoff;
  const replaced = earlier === null ? [] : [event('HandoffDropped', { ...earlier, reason: 'another was sent' })];
  return decided([...replaced, event('HandoffHeld', handoff)], { held: true });
}

/** Refuses an approval when it is sent, not only when the session ends. */
function checkHandoffApprover(
  state: State,
  task: Task,
  handoff: HeldHandoff,
  principal: string,
  rules: Rules,
): Outcome<null> {
  const to = handoffPhase(task, handoff);
  const isVerdict = to !== null && isApproval(task.phase, to) && checkGates(task, to, rules).ok;
  return isVerdict ? checkMayJudge(state, task, principal, rules) : decided([], null);
}

/** A handoff about a completed task may report that it is closed, not closed yet, or that closing failed. */
function leavesCompleted(task: Task, { phase }: HeldHandoff): boolean {
  return task.phase === 'COMPLETED' && phase !== null && phase !== 'COMPLETED' && phase !== 'BLOCKED';
}

/** The phase that a handoff leads to; null if it moves nothing. A completed task stays completed. */
export function handoffPhase(task: Task, { phase }: HeldHandoff): Phase | null {
  return task.phase === 'COMPLETED' && phase !== 'COMPLETED' ? null : phase;
}

/** Delivers an operator's handoff for agents that Baton did not start; turns, writeback and gates apply as usual. */
function deliverByOperator(
  state: State,
  task: Task,
  handoff: HeldHandoff,
  senderRole: string | null,
  caller: Caller,
  rules: Rules,
): Outcome<{ readonly held: boolean }> {
  if (task.phase === 'BLOCKED') return refuseBlocked(task);
  if (leavesCompleted(task, handoff)) return refuseCompleted(task);
  const turn = task.claim?.role ?? task.nextRole;
  if (turn !== null && turn !== senderRole) {
    const message = `the next role is ${turn}, which ${handoff.from} does not play`;
    return refusal('out-of-turn', message, `See the task: baton task show ${task.id}`);
  }
  const to = handoffPhase(task, handoff);
  const delivered = event('HandoffDelivered', handoff);
  if (to === null) return decided([delivered], { held: false });
  if (needsCommit(task, to, rules) && task.flow.head === null && writebackRecords(task).length === 0)
    return refuseMissing(['thought_record']);
  const written: RuleCheck = to === 'COMPLETED' && task.phase !== to ? checkWriteback(task, null) : { ok: true };
  const passed = written.ok ? checkGates(task, to, rules) : written;
  if (!passed.ok) return passed;
  const judge = checkHandoffApprover(state, task, handoff, principalOf(state, caller), rules);
  if (!judge.ok) return judge;
  const ended = task.claim === null ? [] : endClaim(task, task.claim, 'completed', 'an operator sent the handoff');
  const error = findReportedError(handoff);
  const reason = error === undefined ? `handoff from ${handoff.from}` : summarizeError(error);
  const moved = phaseMovedEvent(task, to, { cause: 'handoff', reason }, handoff.next_role);
  return decided([delivered, ...ended, moved], { held: false });
}

/**
 * Approves the operator's own change, for the current commit only and with a reason. If another principal made the
 * change, nothing is recorded.
 */
export function decideSelfApprove(
  state: State,
  { id, reason }: { readonly id: string; readonly reason: string },
  caller: Caller,
): Outcome<null> {
  const task = state.tasks.get(id);
  if (task === undefined) return refuseUnknownTask(id);
  if (reason.trim() === '')
    return refusal('no-reason', 'the approval of your own change needs a reason', 'Give the reason; it is recorded.');
  if (task.phase === 'COMPLETED') return refuseCompleted(task);
  if (task.phase === 'BLOCKED') return refuseBlocked(task);
  const by = principalOf(state, caller);
  const head = judgedHead(task);
  if (head === undefined) {
    const hint = `Record the commit first. Fill in the form (baton thought template ${id}), then record it: baton thought record FILE`;
    return refusal('nothing-to-approve', `task ${id} has no commit that could be approved`, hint);
  }
  const isOthers = task.flow.head !== null && !includesPrincipal(task.flow.authors, by);
  if (isOthers || isSelfApproved(task, by)) return decided([], null);
  return decided([event('SelfApproved', { task_id: id, by, head, reason })], null);
}
