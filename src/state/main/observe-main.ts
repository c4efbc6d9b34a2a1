import { event } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';
import type { AgentRun } from '../runs/agent-run.ts';
import { isHeldByBudget } from '../runs/standing.ts';
import type { State } from '../state.ts';
import type { Task } from '../tasks/task.ts';
import { findMain, findUnsandboxedCommand, type SuspectSession } from './main-branch.ts';

/** What a look at the main branch found. */
export interface ObserveMain {
  readonly branch: string;
  readonly sha: string;
  readonly upstream: string | null;
  /** The project names its main branch. Otherwise the repository says which it is, and whoever can write there can change that. */
  readonly isConfigured: boolean;
  /** The branch was last known to be where it is on record. */
  readonly seenAt: string;
  /** The move as it was measured; null if there was nothing to compare with. */
  readonly move: ObservedMove | null;
}

export interface ObservedMove {
  /** Where the move began: the position on record, or the merge commit that Baton has moved the branch to since. */
  readonly old: string;
  readonly fastForward: boolean;
  readonly commits: number;
  /** Whether the commits are on the upstream branch; null if it was not asked. */
  readonly onUpstream: boolean | null;
  readonly authors: readonly string[];
  readonly stat: string | null;
}

export type ObserveResult = 'known' | 'recorded' | 'stale';

/**
 * Records where the main branch is, if Baton did not move it there. `stale`: the position on record is no longer the one that the move was
 * measured from, and the caller looks again.
 */
export function decideObserveMain(state: State, seen: ObserveMain): Outcome<ObserveResult> {
  const { branch, sha, upstream, move } = seen;
  const main = findMain(state);
  if (main === undefined || (main.branch !== branch && seen.isConfigured))
    return decided([firstObservation(seen)], 'recorded');
  if (main.branch === branch && (sha === main.sha || sha === main.prepared?.sha)) return decided([], 'known');
  if (move === null || (move.old !== main.sha && move.old !== main.prepared?.sha)) return decided([], 'stale');
  const isRenamed = main.branch !== branch;
  const sessions = listSessionsSince(state, seen.seenAt);
  const moved = event('MainMoved', {
    branch,
    ...(isRenamed ? { previous_branch: main.branch } : {}),
    old: move.old,
    new: sha,
    fast_forward: move.fastForward && !isRenamed,
    commits: move.commits,
    // An upstream that was exchanged since is no witness.
    on_upstream: move.onUpstream === true && upstream !== main.upstream ? false : move.onUpstream,
    upstream,
    authors: move.authors,
    stat: move.stat,
    sessions: sessions.slice(0, MOST_SESSIONS),
  });
  return decided([moved], 'recorded');
}

const MOST_SESSIONS = 50;

function firstObservation({ branch, sha, upstream }: ObserveMain) {
  const nothing = { on_upstream: null, authors: [], stat: null, sessions: [] };
  return event('MainMoved', { branch, old: null, new: sha, fast_forward: true, commits: 0, upstream, ...nothing });
}

/** Whether a session could write only where its sandbox let it. Sessions that do not name one had none. */
function isSandboxed({ sandbox = 'none' }: Pick<AgentRun, 'sandbox'>): boolean {
  return sandbox !== 'none';
}

/**
 * The sessions without a sandbox that were alive at any time since a moment: each could have changed the repository. Agents that Baton runs,
 * clients that hold a claim with a worker's token, and commands that run code of a branch (checks, gates, steps); a person who holds a
 * claim is no session in this sense.
 */
export function listSessionsSince(state: State, at: string): readonly SuspectSession[] {
  const runs = runsSince(state, at).map(({ id, plan, task }) => ({
    id,
    name: plan.name,
    task_id: task?.task_id ?? null,
  }));
  const clients = [...state.tasks.values()].flatMap((task) => clientsOf(task, at));
  return [...runs, ...commandsSince(state, at), ...clients];
}

/** Whether there was none. While agents or commands run, the tasks are not looked through. */
export function hasNoSessionSince(state: State, at: string): boolean {
  if (commandsSince(state, at).length > 0) return false;
  for (const run of state.agents.values()) if (isSuspect(state, run, at)) return false;
  for (const task of state.tasks.values()) if (hasClient(task, at)) return false;
  return true;
}

function runsSince(state: State, at: string): readonly AgentRun[] {
  return [...state.agents.values()].filter((run) => isSuspect(state, run, at));
}

function isSuspect(state: State, run: AgentRun, at: string): boolean {
  return !isSandboxed(run) && wasAlive(state, run, at);
}

/** Of the commands that have ended only the newest is known: whether one ended since then is what matters. */
function commandsSince(state: State, at: string): readonly SuspectSession[] {
  const open = [...state.effects.values()].map(findUnsandboxedCommand).filter((command) => command !== undefined);
  const last = findMain(state)?.lastCommand ?? null;
  if (last === null || last.at < at) return open;
  const { id, name, task_id } = last;
  return [...open, { id, name, task_id }];
}

function wasAlive(state: State, run: AgentRun, at: string): boolean {
  if (run.process === 'running') return true;
  // A process that was started is on record a moment later.
  if (run.process === 'wanted' && !isHeldByBudget(state, run)) return true;
  return run.exit !== null && run.exit.at >= at;
}

/** The same as whether `clientsOf` finds any, without a list for each task: this is asked once a second. */
function hasClient({ claim, endings }: Task, at: string): boolean {
  if (claim !== null && isClient(claim)) return true;
  return endings.some((ending) => ending.at >= at && isClient(ending));
}

function isClient({ principal }: { readonly principal: string }): boolean {
  return principal.startsWith('worker:');
}

function clientsOf({ id: task_id, claim, endings }: Task, at: string): readonly SuspectSession[] {
  const ended = endings.filter((ending) => ending.at >= at);
  return [...(claim === null ? [] : [claim]), ...ended]
    .filter(isClient)
    .map(({ sessionId, holder }) => ({ id: sessionId, name: holder, task_id }));
}
