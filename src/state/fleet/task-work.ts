import type { State } from '../state.ts';
import type { Task } from '../tasks/task.ts';
import { findHost, hostOf } from './fleet.ts';

/** Why a session on this host would not have the work of the sessions before it. */
export interface OutOfReach {
  readonly host: string;
  readonly reason: string;
}

/** Whether a session on this host would have the work of the sessions before it. */
export function mayWorkHere(state: State, task: Task, here: string | undefined): boolean {
  return findOutOfReach(state, task, here) === undefined;
}

/**
 * Undefined if the work is here or at the remote, or if there is none. A claim that expired goes on anywhere from what was pushed, and so
 * does the work of a removed host: its host cannot be waited for.
 */
export function findOutOfReach(state: State, task: Task, here: string | undefined): OutOfReach | undefined {
  if (here === undefined || task.flow.branch === null) return undefined;
  const { work, endings } = task;
  const host = hostOf(work ?? { host: null }, state);
  if (host === undefined || host === here || findHost(state, host) === undefined) return undefined;
  if (work?.epoch === 0) return undefined;
  if (work === null) return { host, reason: 'it was made before the fleet was founded, and was not pushed' };
  if (endings.findLast(({ epoch }) => epoch === work.epoch)?.how === 'expired') return undefined;
  if (work.failed !== null) return { host, reason: `the last push failed: ${work.failed}` };
  return work.pushed?.epoch === work.epoch ? undefined : { host, reason: 'nothing of the last session was pushed yet' };
}
