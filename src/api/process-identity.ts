import { isShortage } from '../protocol/shortage.ts';
import { isLiving, readBootId, readProcStat } from './processes.ts';

/**
 * A process, told apart from every other that had or will have its number: boot, number and start time. Undefined where there is
 * none, or where this system does not say when it started.
 */
export function readProcessIdentity(pid: number): string | undefined {
  const [boot, stat] = [readBootId(), readProcStat(pid)];
  return boot === undefined || stat === undefined || !isLiving(stat) ? undefined : `${boot}/${pid}/${stat.started}`;
}

/** Whether it is known to have ended: another process, or none, has its number now, or the machine was started anew. */
export function hasEnded(identity: string): boolean {
  const pid = Number(identity.split('/')[1]);
  try {
    return readProcessIdentity(process.pid) !== undefined && readProcessIdentity(pid) !== identity;
  } catch (error) {
    // Without a descriptor nothing can be looked at, and nothing is known.
    if (isShortage(error)) return false;
    throw error;
  }
}

/** The same as a text that is always there: its number alone if it has ended, or if there is no descriptor to look with. */
export function readProcessName(pid: number): string {
  const unknown = `?/${pid}/?`;
  try {
    return readProcessIdentity(pid) ?? unknown;
  } catch (error) {
    if (isShortage(error)) return unknown;
    throw error;
  }
}
