import { includesPrincipal, isOperator, type Principal } from '../caller.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import { type Rules, rulesFor } from '../rules.ts';
import type { Decision } from '../runs/decision.ts';
import { isNotice } from '../runs/open-decisions.ts';
import type { State } from '../state.ts';
import { isApproved } from '../workflow/approval.ts';
import { JUDGED_PHASES, type Task, writebackRecords } from './task.ts';

/**
 * Decides whether this principal may judge the task: claim it for review, approve it, complete it from there, or
 * request its merge. Every path to an approval or a merge calls this function, and dispatch offers nothing that it
 * refuses.
 */
export function checkMayJudge(state: State, task: Task, principal: Principal, rules: Rules): Outcome<null> {
  const isOther = checkIsNotAuthor(task, principal, rules);
  return isOther.ok ? checkNoOpenDecision(state, task) : isOther;
}

/** A claim without a role may reject the work, but not approve it if the task waits for a role. */
export function checkRoleTurn(task: Task, role: string | null): Outcome<null> {
  const { nextRole } = task;
  if (nextRole === null || role === nextRole) return decided([], null);
  const message = `${task.id} waits for the role ${nextRole}, and this session plays ${role ?? 'no role'}`;
  return refusal('wrong-role', message, `Release the task and claim it with --role ${nextRole}.`);
}

/** Refuses an approval by the author or fixer of a change. */
export function checkIsNotAuthor(task: Task, principal: Principal, rules: Rules): Outcome<null> {
  if (!includesPrincipal(task.flow.authors, principal) || rulesFor(task, rules).sameAgentMayReview === true)
    return decided([], null);
  if (isOperator(principal) && (isSelfApproved(task, principal) || isApprovedByAnother(task))) return decided([], null);
  const message = `${principal} worked on ${task.id} and cannot approve it`;
  const hint = isOperator(principal)
    ? 'Let another principal review it, or state why you approve your own change: --self-approve REASON'
    : 'Leave the review to another agent or to a person.';
  return refusal('separation-of-duties', message, hint);
}

/** Reports whether an operator approved their own change at this commit, with a recorded reason. */
export function isSelfApproved(task: Task, principal: Principal): boolean {
  const { selfApproval } = task.flow;
  return selfApproval !== null && selfApproval.by === principal && selfApproval.head === judgedHead(task);
}

/** The commit that is judged and would be merged; undefined before one is recorded. */
export function judgedHead(task: Task): string | undefined {
  return task.flow.head ?? writebackRecords(task).at(-1)?.commitSha.toLowerCase();
}

/**
 * The head of the change that people are shown. From the checks on it is the judged commit: agents can write the
 * branch's repository, and a moved branch must not show people another change than the one that they approve. `tip` is
 * the branch's current commit.
 */
export function shownHead(task: Task, tip: string | null): string | null {
  const phase = task.blocked?.from ?? task.phase;
  const isFixed = phase === 'CI_PENDING' || JUDGED_PHASES.has(phase);
  return (isFixed ? judgedHead(task) : undefined) ?? tip ?? task.flow.head;
}

/**
 * Reports whether another principal has approved the change: requesting the merge is then no approval, and its author
 * may do it.
 */
function isApprovedByAnother({ phase, flow }: Task): boolean {
  return phase === 'READY_FOR_MERGE' && isApproved(flow);
}

export function checkNoOpenDecision(state: State, task: Task): Outcome<null> {
  const open = findOpenDecision(state, task);
  if (open === undefined) return decided([], null);
  return refusal(
    'decision-open',
    `task ${task.id} waits for a decision: ${open.title}`,
    `Answer the decision: baton decision show ${open.id}`,
  );
}

function findOpenDecision(state: State, task: Task): Decision | undefined {
  for (const decision of state.decisions.values())
    if (decision.result === null && decision.taskId === task.id && isAboutWork(state, task, decision)) return decision;
  return undefined;
}

/**
 * Reports whether a decision holds the task's work. A budget only delays new work, a notice is only dismissed, and a
 * decision about the claim's own run ends with that run.
 */
function isAboutWork({ agents }: State, { claim }: Task, { source, options, agentId }: Decision): boolean {
  if (source === 'budget' || isNotice({ options })) return false;
  const session = agents.get(agentId ?? '')?.task?.session_id;
  return session === undefined || session !== claim?.sessionId;
}
