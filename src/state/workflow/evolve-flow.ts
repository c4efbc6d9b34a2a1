import type { Event, EventOf } from '../event.ts';
import type { Task } from '../task.ts';
import { findingsIn } from './findings.ts';
import { evolvePull } from './evolve-pull.ts';
import { NO_FLOW, type Flow } from './flow.ts';

/** (flow, entry) → flow. `before` is the task as it was: what a session did is known by the claim that it had then. */
export function evolveFlow(
  flow: Flow,
  recorded: Event & { readonly seq: number; readonly at: string },
  before: Pick<Task, 'claim'>,
): Flow {
  switch (recorded.type) {
    case 'PhaseMoved':
      return { ...flow, movedAt: recorded.seq };
    case 'WorkflowStarted':
      return { ...flow, mode: recorded.data.mode, startedAt: recorded.at };
    case 'TaskHeld':
      return { ...flow, held: { decisionId: recorded.data.decision_id, stage: recorded.data.stage } };
    case 'TaskFreed':
      return { ...flow, held: null };
    case 'TaskClaimed':
      return isAuthor(recorded.data.role) ? { ...flow, authors: withName(flow.authors, recorded.data.holder) } : flow;
    case 'BranchNamed':
      return { ...flow, branch: recorded.data.branch };
    case 'SessionPrepared': {
      const { workspace, branch, base, port } = recorded.data;
      return { ...flow, branch, place: { workspace, branch, base, port } };
    }
    case 'SessionMeasured': {
      const { head, commits, violations } = recorded.data;
      const base = flow.unfit?.base ?? recorded.data.base;
      // What was not committed is measured again anyway: it lies in the worktree.
      const unfit = head !== base && violations.some(isOfConstraint) ? { base, head } : null;
      return { ...flow, head, unfit, commits: flow.commits + commits };
    }
    case 'ThoughtRecorded':
      return isOfAuthor(recorded.data, before)
        ? { ...flow, head: recorded.data.record.commit_sha.toLowerCase() }
        : flow;
    case 'HandoffDelivered':
      return delivered(flow, recorded.data, before);
    case 'ChecksRequested': {
      const { checks_id: id, head, checks: plans } = recorded.data;
      return { ...flow, checks: { id, head, plans, outcomes: {}, outcome: null } };
    }
    case 'CheckFinished': {
      const { name, outcome } = recorded.data;
      const { checks } = flow;
      if (checks?.id !== recorded.data.checks_id) return flow;
      return { ...flow, checks: { ...checks, outcomes: { ...checks.outcomes, [name]: outcome } } };
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
      const { merge_id: id, head, handoff } = recorded.data;
      return { ...flow, merge: { id, head, handoff } };
    }
    case 'MergeFinished': {
      const { merge_sha, base } = recorded.data;
      return { ...flow, merge: null, ...(merge_sha === null ? {} : { mergeSha: merge_sha, mergeBase: base }) };
    }
    case 'TaskReinstated':
      return startAgain(flow);
    default:
      return flow;
  }
}

/** The work begins again where it is. What runs for it outside is still to be heard of, and a new head makes new checks. */
function startAgain(flow: Flow): Flow {
  const { mode, startedAt, issue, commits, reviews, branch, place, authors, head, unfit, checks, merge, movedAt } =
    flow;
  // What was merged stays merged: the work that is to be done again gets a pull request of its own.
  const pull = flow.mergeSha === null ? flow.pull : null;
  const work = { commits, reviews, branch, place, authors, head, unfit, checks, pull, merge };
  return { ...NO_FLOW, mode, startedAt, issue, movedAt, ...work };
}

/** A result that is not true is its own session's alone; work that breaks a constraint stays in the branch. */
function isOfConstraint(violation: string): boolean {
  return /^(?:max_files|no_git_commit|no_new_deps): /.test(violation);
}

/** What a claim taken by hand leaves behind nobody measures: its record says so. Of all others the measurement, which comes later, counts. */
function isOfAuthor({ epoch, record }: EventOf<'ThoughtRecorded'>['data'], { claim }: Pick<Task, 'claim'>): boolean {
  return claim !== null && claim.epoch === epoch && isAuthor(claim.role) && record.status !== 'todo';
}

/** Whoever changes the work does not approve it. */
export function isAuthor(role: string | null): boolean {
  return role === 'implementer' || role === 'fixer';
}

function withName(names: readonly string[], name: string): readonly string[] {
  return names.includes(name) ? names : [...names, name].slice(-KEPT_NAMES);
}

const KEPT_NAMES = 50;

function delivered(flow: Flow, handoff: EventOf<'HandoffDelivered'>['data'], { claim }: Pick<Task, 'claim'>): Flow {
  const reviews = flow.reviews + (handoff.from === 'reviewer-agent' ? 1 : 0);
  const issue = handoff.from === 'issue-manager' && handoff.to !== 'orchestrator' ? handoff : flow.issue;
  const after = { ...flow, handoff, issue, reviews };
  if (handoff.to === 'orchestrator') return { ...after, retries: flow.retries + 1 };
  if (handoff.to === 'fixer-agent') {
    const found = findingsIn(handoff.xml);
    const findings = Object.fromEntries(found.map((each) => [each, (flow.findings[each] ?? 0) + 1]));
    return { ...after, retries: 0, approval: null, rounds: flow.rounds + 1, findings };
  }
  if (handoff.to === 'validator-agent') {
    return { ...after, retries: 0, approval: { head: flow.head, by: claim?.holder ?? 'operator' } };
  }
  return { ...after, retries: 0 };
}
