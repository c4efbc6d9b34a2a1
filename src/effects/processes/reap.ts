import { setTimeout as pause } from 'node:timers/promises';
import { listLiving, readProcFile } from '../../api/processes.ts';
import { hasEnded } from '../../api/process-identity.ts';

export interface Remains {
  /** A name and a value in the environment of everything that the run has started, also of what left its process group. */
  readonly mark: { readonly name: string; readonly value: string };
  /** Boot, number and start time of those that lead a group of their own. */
  readonly leaders: readonly string[];
  /** Somebody else has seen to it. What has the mark from then on may be the next start of the same run, and is left alone. */
  readonly isSettled?: () => boolean;
}

/**
 * Ends what is left of a run that nobody supervises any more. A process may start another while it is being ended, so we look
 * until there is none. False where some could not be ended.
 */
export async function killRemains({ mark, leaders, isSettled = () => false }: Remains): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round++) {
    if (isSettled()) return true;
    const alive = leaders.filter((leader) => !hasEnded(leader)).map((leader) => Number(leader.split('/')[1]));
    const marked = findProcessesByMark(mark);
    if (alive.length === 0 && marked.length === 0) return true;
    // A group has the number of its leader; that is only known to be ours while the leader is there.
    for (const pid of alive) kill(-pid);
    for (const pid of [...alive, ...marked]) kill(pid);
    await pause(Math.min(10 * 2 ** round, 200));
  }
  return false;
}

/** About five seconds: what SIGKILL does not end within that time waits for a device. */
const ROUNDS = 30;

/** The processes that have a mark in the environment that they were started with; those of other users cannot be seen. */
export function findProcessesByMark({ name, value }: Remains['mark']): number[] {
  const text = `\0${name}=${value}\0`;
  return findLiving((pid) => pid !== process.pid && `\0${readProcFile(pid, 'environ')}`.includes(text));
}

/** The processes that were started with these words at the end of their command line. */
export function findProcessesByArguments(...words: readonly string[]): number[] {
  const end = `\0${words.join('\0')}\0`;
  return findLiving((pid) => readProcFile(pid, 'cmdline').endsWith(end));
}

function findLiving(isWanted: (pid: number) => boolean): number[] {
  return listLiving()
    .map(({ pid }) => pid)
    .filter(isWanted);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has gone, or it is not ours to end: the next look tells.
  }
}
