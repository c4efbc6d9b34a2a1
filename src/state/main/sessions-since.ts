import type { AgentRun } from '../runs/agent-run.ts';
import { isHeldByBudget } from '../runs/standing.ts';
import type { State } from '../state.ts';
import type { Task } from '../tasks/task.ts';
import type { SuspectSession } from './live-session.ts';
import { findMain } from './main-branch.ts';
import { findUnsandboxedCommand } from './running-command.ts';

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
