import { LEDGER_LIMITS } from '../../ledger/format/limits.ts';
import { isIsolated } from '../../protocol/sandbox.ts';
import { event, type RecordedEvent } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';
import type { AgentRun } from '../runs/agent-run.ts';
import { isHeldByBudget } from '../runs/standing.ts';
import type { State } from '../state.ts';
import type { Task } from '../tasks/task.ts';
import { findMain, findCommand, type SuspectSession } from './main-branch.ts';

export interface ObserveMain {
  readonly branch: string;
  readonly sha: string;
  readonly upstream: string | null;
  /**
   * Whether the runbook names the main branch. Otherwise the repository does, which any session that can write to it
   * can change.
   */
  readonly isConfigured: boolean;
  /** When the branch was last observed at the recorded position. */
  readonly seenAt: string;
  /** The agents and commands that are known to run in a sandbox although the state has no record of it yet. */
  readonly isolated?: readonly string[];
  /** Null if there was no earlier position to compare with. */
  readonly move: ObservedMove | null;
}

export interface ObservedMove {
  /** The recorded position, or the merge commit to which Baton has moved the branch since. */
  readonly old: string;
  readonly fastForward: boolean;
  readonly commits: number;
  /** Null if this was not checked. */
  readonly onUpstream: boolean | null;
  readonly authors: readonly string[];
  readonly stat: string | null;
  /** The tasks whose commits the move brought. */
  readonly carried?: readonly string[];
}

export type ObserveResult = 'known' | 'recorded' | 'stale';

/**
 * Records a position that Baton did not make. `stale`: measured from an outdated position, so the caller measures
 * again.
 */
export function decideObserveMain(state: State, seen: ObserveMain): Outcome<ObserveResult> {
  const { branch, sha, upstream, move } = seen;
  const main = findMain(state);
  if (main === undefined || (main.branch !== branch && seen.isConfigured))
    return decided([firstObservation(seen)], 'recorded');
  if (main.branch === branch && (sha === main.sha || sha === main.prepared?.sha)) return decided([], 'known');
  if (move === null || (move.old !== main.sha && move.old !== main.prepared?.sha)) return decided([], 'stale');
  const isRenamed = main.branch !== branch;
  const sessions = listSessionsSince(state, seen.seenAt, new Set(seen.isolated));
  const moved = event('MainMoved', {
    branch,
    ...(isRenamed ? { previous_branch: main.branch } : {}),
    old: move.old,
    new: sha,
    fast_forward: move.fastForward && !isRenamed,
    commits: move.commits,
    // A comparison with an upstream that was replaced meanwhile proves nothing.
    on_upstream: move.onUpstream === true && upstream !== main.upstream ? false : move.onUpstream,
    upstream,
    authors: move.authors,
    stat: move.stat,
    sessions: sessions.slice(0, MOST_SESSIONS),
    ...(move.carried === undefined || move.carried.length === 0
      ? {}
      : { carried: move.carried.slice(0, LEDGER_LIMITS.tasksPerEntry) }),
  });
  return decided([moved], 'recorded');
}

function firstObservation({ branch, sha, upstream }: ObserveMain) {
  const nothing = { on_upstream: null, authors: [], stat: null, sessions: [] };
  return event('MainMoved', { branch, old: null, new: sha, fast_forward: true, commits: 0, upstream, ...nothing });
}

/**
 * The sessions and commands that ran without a sandbox since a time: agents, clients that claim with a worker token,
 * and commands that run a branch's code. A person's claim does not count.
 */
export function listSessionsSince(state: State, at: string, isolated: Ids = NONE): readonly SuspectSession[] {
  const runs = runsSince(state, at, isolated).map(({ id, plan, task }) => ({
    id,
    name: plan.name,
    task_id: task?.task_id ?? null,
  }));
  const clients = [...state.tasks.values()].flatMap((task) => clientsOf(task, at));
  return [...runs, ...commandsSince(state, at, isolated), ...clients];
}

type Ids = ReadonlySet<string>;
const NONE: Ids = new Set();

/** Like `listSessionsSince(…)` being empty, but does not search the tasks while agents or commands run. */
export function hasNoSessionSince(
  state: State,
  at: string,
  isolated: Ids = NONE,
  clients: ClientTasks = new ClientTasks(),
): boolean {
  if (commandsSince(state, at, isolated).length > 0) return false;
  for (const run of state.agents.values()) if (isSuspect(state, run, at, isolated)) return false;
  return !clients.hasAnySince(state, at);
}

/**
 * The tasks that a client may hold, or may have held lately. Cached, because a check before every claim must not search
 * a hundred thousand tasks.
 */
export class ClientTasks {
  /** Undefined before the first check, which searches all tasks. */
  #ids: Set<string> | undefined;

  note({ type, data }: RecordedEvent): void {
    if (type === 'TaskClaimed') this.#ids?.add(data.task_id);
  }

  /** Reports whether a client has held a claim since a time, which is never earlier than that of the previous check. */
  hasAnySince({ tasks }: State, at: string): boolean {
    this.#ids ??= new Set(tasks.keys());
    for (const id of this.#ids) {
      const task = tasks.get(id);
      if (task !== undefined && hasClient(task, at)) return true;
      this.#ids.delete(id);
    }
    return false;
  }
}

function runsSince(state: State, at: string, isolated: Ids): readonly AgentRun[] {
  return [...state.agents.values()].filter((run) => isSuspect(state, run, at, isolated));
}

function isSuspect(state: State, run: AgentRun, at: string, isolated: Ids): boolean {
  // The process may already run before its start is recorded.
  if (run.process === 'wanted' && !isHeldByBudget(state, run) && !isolated.has(run.id)) return true;
  // An agent without a task works in the main checkout, and its commits may be on the main branch.
  if (isIsolated(run.sandbox) && run.task !== null && run.wasOpen !== true) return false;
  return run.process === 'running' || (run.exit !== null && run.exit.at >= at);
}

/** Only the newest ended command is recorded, which suffices. */
function commandsSince(state: State, at: string, isolated: Ids): readonly SuspectSession[] {
  const open = [...state.effects.values()]
    .map(findCommand)
    .filter((command) => command !== undefined)
    .filter(({ id }) => !isolated.has(id));
  const last = findMain(state)?.lastCommand ?? null;
  if (last === null || last.at < at) return open;
  const { id, name, task_id } = last;
  return [...open, { id, name, task_id }];
}

/** Reports whether `clientsOf` would find any, without building lists. */
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

const MOST_SESSIONS = 50;
