import type { State } from '../state.ts';
import type { Task } from '../tasks/task.ts';
import { findHost, hostOf } from './fleet.ts';

/** Why a session on this host would lack the work of the sessions before it. */
export interface OutOfReach {
  readonly host: string;
  readonly reason: string;
}

/** Reports whether a session on this host would have the work of the sessions before it. */
export function mayWorkHere(state: State, task: Task, here: string | undefined): boolean {
  return findOutOfReach(state, task, here) === undefined;
}

/**
 * Why the work is out of reach; undefined if it is on this host or at the remote, or if there is none. After a claim
 * expired, or a host was removed, the task continues on any host from what was pushed, because waiting for the host is
 * not possible.
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
