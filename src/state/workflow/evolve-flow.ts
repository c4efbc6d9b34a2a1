import { CONSTRAINTS } from '../../protocol/agent-session-completed.ts';
import { findReportedError, isErrorHandoff, isHandoffOn, parseHandoff } from '../../protocol/handoff/index.ts';
import { isOperator } from '../caller.ts';
import type { Event, EventOf } from '../event.ts';
import { excerptEnd } from '../runs/excerpt.ts';
import { JUDGED_PHASES, type Task } from '../tasks/task.ts';
import { approvalAfterMove } from './approval.ts';
import { authorsAfter } from './authors.ts';
import { confirmVerdict, holdVerdict, withoutVerdict } from './evolve-verdict.ts';
import type { HandoffRef } from './workflow-event.ts';
import { type CheckRun, type Flow, NO_FLOW, type PullRequest } from './flow.ts';

type FlowEvent = Event & { readonly seq: number; readonly at: string; readonly actor?: string };

/** The task before the entry, with the claim that the entry concerns. */
type TaskBefore = Pick<Task, 'claim' | 'lapsed' | 'phase' | 'nextRole' | 'endings' | 'flow'>;

export function evolveFlow(flow: Flow, recorded: FlowEvent, before: TaskBefore): Flow {
  const after = evolveByType(flow, recorded, before);
  const authors = authorsAfter(flow.authors, recorded, before);
  return authors === flow.authors ? after : { ...after, authors };
}

function evolveByType(flow: Flow, recorded: FlowEvent, before: TaskBefore): Flow {
  switch (recorded.type) {
    case 'PhaseMoved': {
      // An assignment is for the role that was next when it was made.
      const assigned = before.nextRole === recorded.data.next_role ? flow.assigned : null;
      const judged = isBroughtToJudgement(recorded.data) ? { judged: flow.head } : {};
      return { ...flow, assigned, movedAt: recorded.seq, ...judged };
    }
    case 'WorkflowStarted':
      return { ...flow, ...startOf(recorded.data), startedAt: recorded.at };
    case 'TaskHeld':
      return { ...flow, held: { decisionId: recorded.data.decision_id, stage: recorded.data.stage } };
    case 'TaskFreed':
      return withoutVerdict({ ...flow, held: null, heldMerge: null });
    case 'VerdictUnproven':
      return holdVerdict(flow, recorded.data, before);
    case 'VerdictConfirmed':
      return confirmVerdict(flow);
    case 'TaskAssigned': {
      const { agent, person } = recorded.data;
      const toPerson = person === null ? null : { person };
      return { ...flow, assigned: agent === null ? toPerson : { agent } };
    }
    case 'TaskClaimed':
      return flow.assigned === null ? flow : { ...flow, assigned: null };
    case 'BranchNamed':
      return { ...flow, branch: recorded.data.branch };
    case 'SessionPrepared': {
      const { workspace, branch, base, port, main = null } = recorded.data;
      return { ...flow, branch, place: { workspace, branch, base, port }, mainAt: flow.mainAt ?? main };
    }
    case 'SessionMeasured': {
      const { head, commits, file_count, whole_file_count: files = file_count } = recorded.data;
      const base = flow.unfit?.base ?? recorded.data.base;
      // A false result concerns only its own session; a violated constraint stays in the branch.
      const broken = CONSTRAINTS.filter((kind) => recorded.data.broken.includes(kind));
      // Uncommitted changes stay in the worktree and are measured again.
      const unfit = head !== base && broken.length > 0 ? { base, head, broken, files } : null;
      return { ...flow, head, ...headFrom(recorded), unfit, commits: flow.commits + commits };
    }
    case 'BranchMoved': {
      const { new: head } = recorded.data;
      const judged = JUDGED_PHASES.has(before.phase) ? { judged: head } : {};
      return { ...flow, head, ...headFrom(recorded), ...judged, approval: approvalAfterMove(flow, recorded.data) };
    }
    case 'ThoughtRecorded':
      return isOfWork(recorded.data, before)
        ? { ...flow, head: recorded.data.record.commit_sha.toLowerCase(), ...headFrom(recorded) }
        : flow;
    case 'HandoffDelivered':
      return evolveDelivered(flow, recorded.data, approverOf(recorded, before));
    case 'AgentSessionCompleted':
      return evolveExit(flow, recorded.data, before.claim?.handoff ?? null, approverOf(recorded, before));
    case 'ConstraintWaived':
      return { ...flow, waived: [...(flow.waived ?? []), recorded.data.constraint] };
    case 'TaskRulesMoved':
      return { ...flow, runbook: recorded.data.runbook };
    case 'SelfApproved': {
      const { head, by, reason } = recorded.data;
      return { ...flow, selfApproval: { head, by, reason } };
    }
    case 'ChecksRequested': {
      const { checks_id: id, head, checks: plans } = recorded.data;
      return { ...flow, checks: { id, head, plans, outcomes: {}, outcome: null } };
    }
    case 'CheckFinished': {
      const { checks } = flow;
      return checks?.id === recorded.data.checks_id ? { ...flow, checks: finishCheck(checks, recorded.data) } : flow;
    }
    case 'CheckQuestioned': {
      const { checks } = flow;
      const { name, checks_id } = recorded.data;
      if (checks?.id !== checks_id) return flow;
      return { ...flow, checks: { ...checks, questions: { ...checks.questions, [name]: recorded.data } } };
    }
    case 'ChecksFinished': {
      const { checks } = flow;
      return checks?.id === recorded.data.checks_id
        ? { ...flow, checks: { ...checks, outcome: recorded.data.outcome } }
        : flow;
    }
    case 'PullRequestRequested':
    case 'PullRequestPublished':
    case 'PullRequestFailed':
    case 'PullRequestCloseRequested':
    case 'PullRequestClosed':
      return { ...flow, pull: evolvePull(flow.pull, recorded) };
    case 'MergeRequested': {
      const { merge_id: id, head, handoff, pull } = recorded.data;
      return { ...flow, merge: { id, head, handoff, ...(pull === undefined ? {} : { isAtGithub: true }) } };
    }
    case 'MergePrepared': {
      const { merge_id, branch, base, merge_sha: sha } = recorded.data;
      return flow.merge?.id === merge_id
        ? { ...flow, merge: { ...flow.merge, prepared: { branch, base, sha } } }
        : flow;
    }
    case 'MergeFinished': {
      const { merge_sha, base } = recorded.data;
      return { ...flow, merge: null, ...(merge_sha === null ? {} : { mergeSha: merge_sha, mergeBase: base }) };
    }
    case 'ProtectedMeasured': {
      const { head, base, paths } = recorded.data;
      return { ...flow, protected: { head, base, paths } };
    }
    case 'MergeHeld': {
      const { head, handoff } = recorded.data;
      return { ...flow, merge: null, heldMerge: { head, handoff } };
    }
    case 'MergeAgreed':
      return { ...flow, agreed: recorded.data.head };
    case 'GithubIssueCloseRequested':
      return { ...flow, issueClosing: { id: recorded.data.close_id, outcome: 'wanted' } };
    case 'GithubIssueClosed': {
      const { close_id: id, outcome } = recorded.data;
      if (flow.issueClosing?.id !== id) return flow;
      return { ...flow, issueClosing: { id, outcome: outcome === 'failed' ? 'failed' : 'closed' } };
    }
    case 'TaskReinstated':
      return restartFlow(flow);
    default:
      return flow;
  }
}

function headFrom({ seq, at }: FlowEvent): Pick<Flow, 'headAt' | 'headSince'> {
  return { headAt: seq, headSince: at };
}

function finishCheck(
  checks: CheckRun,
  { name, outcome, exit_code, output, sandbox }: EventOf<'CheckFinished'>['data'],
): CheckRun {
  const { [name]: _, ...failures } = checks.failures ?? {};
  const known = sandbox === undefined ? {} : { sandboxes: { ...checks.sandboxes, [name]: sandbox } };
  const finished = { ...checks, outcomes: { ...checks.outcomes, [name]: outcome }, ...known };
  if (outcome === 'passed') return checks.failures === undefined ? finished : { ...finished, failures };
  const end = { exitCode: exit_code, output: output === null ? null : excerptEnd(output, KEPT_OUTPUT) };
  return { ...finished, failures: { ...failures, [name]: end } };
}

const KEPT_OUTPUT = 2000;

function startOf({ mode, runbook, worker }: EventOf<'WorkflowStarted'>['data']) {
  return { mode, runbook: runbook ?? null, worker: worker ?? null };
}

/**
 * Reports whether the work is brought to judgement. Moving between judged phases, or returning from BLOCKED, keeps the
 * commit under judgement.
 */
function isBroughtToJudgement({ from, to }: EventOf<'PhaseMoved'>['data']): boolean {
  return JUDGED_PHASES.has(to) && !JUDGED_PHASES.has(from) && from !== 'BLOCKED';
}

/** Restarts the work. Running checks and merges still report, and a new head gets new checks. */
function restartFlow(flow: Flow): Flow {
  const { mode, runbook, worker, startedAt, issue, commits, reviews, branch, place, authors, head, headAt } = flow;
  const { unfit, checks, merge, movedAt, headSince, mainBefore, waived } = flow;
  // Merged work stays merged, so the new work gets its own pull request.
  const pull = flow.mergeSha === null ? flow.pull : null;
  const work = { commits, reviews, branch, place, authors, head, headAt, unfit, checks, pull, merge };
  const kept = { ...(headSince && { headSince }), ...(mainBefore && { mainBefore }), ...(waived && { waived }) };
  return { ...NO_FLOW, mode, runbook, worker, startedAt, issue, movedAt, ...work, ...kept };
}

/**
 * Reports whether a record sets the head. A claim by hand is not measured, so its record names the commit; a session's
 * measurement comes later and overrides it. From review on a record does not change the head.
 */
function isOfWork(
  { epoch, record }: EventOf<'ThoughtRecorded'>['data'],
  { claim, lapsed, phase }: TaskBefore,
): boolean {
  const where = claim === null ? (lapsed?.phase ?? phase) : phase;
  if (record.status === 'todo' || JUDGED_PHASES.has(where) || where === 'COMPLETED' || where === 'BLOCKED')
    return false;
  return epoch === null || epoch === (claim ?? lapsed?.claim)?.epoch;
}

interface Approver {
  readonly by: string;
  readonly principal?: string;
}

/** The approver: an operator who hands off a task is responsible, even while another principal holds the claim. */
function approverOf({ actor }: FlowEvent, { claim }: TaskBefore): Approver {
  if (actor !== undefined && isOperator(actor)) return { by: 'operator', principal: actor };
  return claim === null ? { by: 'operator' } : { by: claim.holder, principal: claim.principal };
}

/** A session that completes its phase counts as a success, even without a handoff. */
function evolveExit(
  flow: Flow,
  { exit_reason, next_phase }: EventOf<'AgentSessionCompleted'>['data'],
  handoff: HandoffRef | null,
  approver: Approver,
): Flow {
  const isSuccess = exit_reason === 'completed' && (handoff === null || !isErrorHandoff(handoff));
  const after = isSuccess && flow.error !== null ? { ...flow, retries: 0, error: null } : flow;
  return next_phase === 'READY_FOR_MERGE' ? { ...after, approval: { head: flow.head, ...approver } } : after;
}

function evolveDelivered(flow: Flow, handoff: EventOf<'HandoffDelivered'>['data'], approver: Approver): Flow {
  if (isErrorHandoff(handoff)) {
    const retries = flow.retries + (findReportedError(handoff)?.recoverable === true ? 1 : 0);
    return { ...flow, error: handoff, retries };
  }
  const reviews = flow.reviews + (handoff.from === 'reviewer-agent' ? 1 : 0);
  const issue = handoff.from === 'issue-manager' ? handoff : flow.issue;
  const after = { ...flow, handoff, issue, reviews, retries: 0, error: null };
  if (handoff.to === 'fixer-agent') {
    const found = findingsIn(handoff.xml);
    const findings = Object.fromEntries(found.map((each) => [each, (flow.findings[each] ?? 0) + 1]));
    return { ...after, approval: null, rounds: flow.rounds + 1, findings };
  }
  if (handoff.to === 'validator-agent') {
    return { ...after, approval: { head: flow.head, ...approver } };
  }
  return after;
}

type PullEvent =
  | EventOf<'PullRequestRequested'>
  | EventOf<'PullRequestPublished'>
  | EventOf<'PullRequestFailed'>
  | EventOf<'PullRequestCloseRequested'>
  | EventOf<'PullRequestClosed'>;

/** A new request with a new head keeps the same pull request. */
function evolvePull(pull: PullRequest | null, { type, data }: PullEvent): PullRequest | null {
  switch (type) {
    case 'PullRequestRequested': {
      const { pull_id: id, repository, remote, head } = data;
      const known = pull?.repository === repository ? pull : UNPUBLISHED;
      return { ...known, id, repository, remote, head, isWanted: true };
    }
    case 'PullRequestPublished': {
      const { pull_id, number, url, head } = data;
      if (pull?.id !== pull_id) return pull;
      return { ...pull, number, url, published: head, isWanted: false, isClosed: false };
    }
    case 'PullRequestFailed':
      return pull?.id === data.pull_id ? { ...pull, isWanted: false } : pull;
    case 'PullRequestCloseRequested':
      // Set before GitHub has closed it, so that a request to reopen is always checked.
      return pull?.number === data.number ? { ...pull, isClosed: true } : pull;
    case 'PullRequestClosed':
      return pull?.number === data.number ? { ...pull, isClosed: data.outcome === 'closed' } : pull;
  }
}

const UNPUBLISHED = { published: null, number: null, url: null, isClosed: false } as const;

/** The findings of a handoff to the fixer, as place and text, so that a repeated finding is recognised. */
export function findingsIn(xml: string): readonly string[] {
  const parsed = parseHandoff(xml);
  if (!parsed.ok || parsed.value.kind !== 'handoff') return [];
  const message = parsed.value;
  if (isHandoffOn(message, 'reviewer-agent', 'fixer-agent'))
    return message.blocking_issues.map((issue) => `${issue.location} ${issue.text}`.slice(0, KEPT_CHARACTERS));
  if (
    isHandoffOn(message, 'validator-agent', 'fixer-agent') ||
    isHandoffOn(message, 'ci-gate', 'fixer-agent') ||
    isHandoffOn(message, 'operator', 'fixer-agent')
  )
    return message.failures.map((failure) => `${failure.type} ${failure.text}`.slice(0, KEPT_CHARACTERS));
  return [];
}

const KEPT_CHARACTERS = 500;
