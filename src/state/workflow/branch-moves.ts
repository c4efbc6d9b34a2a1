import { isIsolated } from '../../protocol/sandbox.ts';
import { agentPrincipal, type Principal } from '../caller.ts';
import { event, type Event } from '../event.ts';
import { listSessionsSince } from '../main/observe-main.ts';
import type { SuspectSession } from '../main/main-branch.ts';
import { decided, type Outcome } from '../outcome.ts';
import { type Rules, rulesFor } from '../rules.ts';
import type { State } from '../state.ts';
import { endClaim, phaseMovedEvent } from '../tasks/claim-task.ts';
import { JUDGED_PHASES, type Task } from '../tasks/task.ts';
import { approvalAfterMove, type BranchMoved } from './approval.ts';
import { isLanding } from './merge.ts';

/**
 * Authorship by commit: how commits get onto a task's branch without a measured session, whose they are, and what
 * becomes of the approval. Sessions, checks and merges that find the branch elsewhere than recorded send this command.
 */
export interface ObserveBranch {
  readonly task_id: string;
  readonly branch: string;
  /** The recorded head with which the branch was compared; null if no session was measured yet. */
  readonly old: string | null;
  readonly new: string;
  /** The commit of main of which the new tree is the automatic merge with the old head; null if it is none. */
  readonly main: string | null;
  /** The claims whose git directory brought the commits; `task_id` is null for a session without a task. */
  readonly imports: readonly { readonly task_id: string | null; readonly epoch: number | null }[];
  /** Agents and commands that run in a sandbox although the state has no record of it yet. */
  readonly isolated?: readonly string[];
}

/** The source of a move that no session could have made. It is an author like any other, but nobody has its name. */
const UNNAMED_OPERATOR: Principal = 'operator:unnamed';

/** Records that a branch moved. Does nothing if the comparison is outdated, or if the task no longer needs the branch. */
export function decideObserveBranch(
  state: State,
  seen: ObserveBranch,
  rules: Rules,
): Outcome<{ readonly moved: boolean }> {
  const task = state.tasks.get(seen.task_id);
  const isStale = task === undefined || task.flow.head !== seen.old || seen.new === seen.old;
  if (isStale || task.phase === 'COMPLETED' || isLanding(state, task)) return decided([], { moved: false });
  const suspects = listSuspects(state, task, new Set(seen.isolated));
  const { task_id, branch, old, main } = seen;
  const moved = event('BranchMoved', {
    task_id,
    branch,
    old,
    new: seen.new,
    main,
    sources: sourcesOf(state, seen.imports, suspects).slice(0, MOST_NAMED),
    sessions: suspects.slice(0, MOST_NAMED),
  });
  return decided([moved, ...afterBranchMoved(task, moved.data, rules)], { moved: true });
}

/**
 * Work under judgement is checked again, and reviewed again unless the approval stays. A merge that is under way merges
 * the approved head, which gives the same files.
 */
function afterBranchMoved(task: Task, moved: BranchMoved, rules: Rules): Event[] {
  const { phase, claim, flow, nextRole } = task;
  if (!JUDGED_PHASES.has(phase)) return [];
  const stays = approvalAfterMove(flow, moved) !== null;
  if (stays && flow.merge !== null) return [];
  const isChecked = rulesFor(task, rules).ciGate;
  if (!isChecked && (phase !== 'READY_FOR_MERGE' || stays)) return [];
  const reason = `the branch moved from ${moved.old?.slice(0, 12) ?? 'its start'} to ${moved.new.slice(0, 12)} by ${moved.sources.join(', ')}`;
  const ended = claim === null ? [] : endClaim(task, claim, 'revoked', reason);
  const role = stays ? nextRole : 'reviewer';
  const to = isChecked ? 'CI_PENDING' : 'READY_FOR_REVIEW';
  return [...ended, phaseMovedEvent(task, to, { cause: 'checks', reason }, nextRole === null ? null : role)];
}

/** The sessions without a sandbox that ran since the head was recorded. */
function listSuspects(state: State, { flow }: Task, isolated: ReadonlySet<string>): readonly SuspectSession[] {
  return listSessionsSince(state, flow.headSince ?? '', isolated).filter(({ id }) => {
    const run = state.agents.get(id);
    if (run === undefined) return true;
    // A sandboxed agent in the main checkout can move main, but no branch of a task.
    if (isIsolated(run.sandbox) && run.wasOpen !== true) return false;
    // The agent starts after its session was prepared.
    const isUnprepared = run.task !== null && state.sessions.get(run.task.session_id)?.prepared === undefined;
    return run.process !== 'wanted' || !isUnprepared;
  });
}

/** Whose commits they are: the sessions that imported them, and those that could have moved the branch themselves. */
function sourcesOf(
  state: State,
  imports: ObserveBranch['imports'],
  suspects: readonly SuspectSession[],
): readonly Principal[] {
  const found = new Set([
    ...imports.flatMap((each) => importersOf(state, each)),
    ...suspects.flatMap((each) => principalsOf(state, each)),
  ]);
  return found.size === 0 ? [UNNAMED_OPERATOR] : [...found];
}

/** The claim that now uses the git directory has not run yet, so an earlier one of its task made the import. */
function importersOf(state: State, { task_id, epoch }: ObserveBranch['imports'][number]): readonly Principal[] {
  if (task_id === null)
    return [...state.agents.values()].flatMap(({ task, plan }) => (task === null ? [agentPrincipal(plan.name)] : []));
  const { claim = null, endings = [] } = state.tasks.get(task_id) ?? {};
  const exact = claim?.epoch === epoch ? [] : endings.filter((ending) => ending.epoch === epoch);
  return (exact.length > 0 ? exact : endings).map(({ principal }) => principal);
}

/** A command runs the code of its task's authors. */
function principalsOf({ agents, sessions, tasks }: State, { id, task_id }: SuspectSession): readonly Principal[] {
  const run = agents.get(id);
  if (run !== undefined) return [agentPrincipal(run.plan.name)];
  const session = sessions.get(id);
  return session === undefined ? (tasks.get(task_id ?? '')?.flow.authors ?? []) : [session.principal];
}

const MOST_NAMED = 50;
