import { readdirSync, readFileSync } from 'node:fs';
import { isShortage } from '../protocol/shortage.ts';

/** What Linux says about a process in `/proc/PID/stat`. */
export interface ProcStat {
  readonly pid: number;
  /** The name of its program, without the folder. */
  readonly program: string;
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  /** The number of the process that leads its session. */
  readonly session: number;
  /** When it was started, in ticks since the machine was: with its number that tells it from all others until the next boot. */
  readonly started: string;
}

/** Undefined where there is no such process, or where the system is not Linux. */
export function readProcStat(pid: number): ProcStat | undefined {
  const stat = readProcFile(pid, 'stat');
  // The name of the program stands in brackets, and may itself contain some.
  const end = stat.lastIndexOf(')');
  if (end < 0) return undefined;
  const fields = stat.slice(end + 2).split(' ', 20);
  const [state = '', parent, group, session] = fields;
  const program = stat.slice(stat.indexOf('(') + 1, end);
  return {
    pid,
    program,
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    started: fields[19] ?? '',
  };
}

/** A zombie answers signals, but it is dead: nobody has collected it yet. */
export function isLiving({ state }: ProcStat): boolean {
  return state !== 'Z' && state !== 'X';
}

/** Empty if there is none, or if it is another user's. Throws on a shortage: that does not mean that the process is gone. */
export function readProcFile(pid: number, file: 'environ' | 'cmdline' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch (error) {
    if (isShortage(error)) throw error;
    return '';
  }
}

/** Everything that lives, of all users. */
export function listLiving(): readonly ProcStat[] {
  return listProcesses().flatMap((pid) => {
    const stat = readProcStat(pid);
    return stat !== undefined && isLiving(stat) ? [stat] : [];
  });
}

/** The numbers of all processes, also of those that have ended and are not collected yet. */
export function listProcesses(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch (error) {
    if (isShortage(error)) throw error;
    return [];
  }
}

/** One for each start of the machine. */
export function readBootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch (error) {
    if (isShortage(error)) throw error;
    return undefined;
  }
}
