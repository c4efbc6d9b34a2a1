import { readdirSync, readFileSync } from 'node:fs';
import { isShortage } from '../protocol/resource-faults.ts';

/** A process as `/proc/PID/stat` of Linux describes it. */
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
  /** It has been killed or has exited, and the kernel is still closing its files. */
  readonly isExiting: boolean;
}

/** Undefined if there is no such process, or the system is not Linux. */
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
    isExiting: (Number(fields[6]) & PF_EXITING) !== 0,
  };
}

const PF_EXITING = 0x4;

/** A zombie accepts signals, but has ended: its parent has not collected it yet. */
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

/**
 * Identifies a process among all that had or will have its number: boot, number and start time. Undefined if there is no such process, or the
 * system does not report start times.
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

/** The processes of this machine, as far as the check for sessions needs them. */
export interface ProcessTable {
  /** Undefined if there is no such process. */
  readonly find: (pid: number) => ProcessLinks | undefined;
  /** `NAME=value`, each behind a NUL; empty if the process belongs to another user. */
  readonly environmentOf: (pid: number) => string;
  /** The words of its command line, each behind a NUL. */
  readonly commandOf: (pid: number) => string;
  readonly list: () => readonly number[];
}

export interface ProcessLinks {
  readonly parent: number;
  /** The number of the process that leads its group. */
  readonly group: number;
  /** The number of the process that leads its session; 0 if the system does not say. */
  readonly session: number;
}

/** Reads each process once: one look at the machine is one table. */
export function readProcessTable(): ProcessTable {
  return readProcStat(process.pid) === undefined ? parsePs(runPs()) : memoizeTable(PROC);
}

const PROC: ProcessTable = {
  find: readProcStat,
  environmentOf: (pid) => `\0${readProcFile(pid, 'environ')}`,
  commandOf: (pid) => `\0${readProcFile(pid, 'cmdline')}`,
  list: listProcesses,
};

function memoizeTable(table: ProcessTable): ProcessTable {
  const once = <T>(read: (pid: number) => T): ((pid: number) => T) => {
    const known = new Map<number, { readonly value: T }>();
    return (pid) => {
      const found = known.get(pid) ?? { value: read(pid) };
      known.set(pid, found);
      return found.value;
    };
  };
  return {
    find: once(table.find),
    environmentOf: once(table.environmentOf),
    commandOf: once(table.commandOf),
    list: table.list,
  };
}

/** For systems without /proc: one call for all processes. `-E` adds the environment of those that belong to this user. */
function runPs(): string {
  try {
    // Loaded only if it is needed: it costs some milliseconds.
    return process
      .getBuiltinModule('node:child_process')
      .execFileSync('ps', ['-axEww', '-o', 'pid=,ppid=,pgid=,command='], {
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
  } catch {
    return '';
  }
}

/** `ps` prints command line and environment as one text with spaces. */
export function parsePs(text: string): ProcessTable {
  const rows = new Map<number, ProcessLinks & { readonly words: string }>();
  for (const line of text.split('\n')) {
    const [, pid, parent, group, words = ''] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined) continue;
    const spread = `\0${words.replaceAll(' ', '\0')}\0`;
    rows.set(Number(pid), { parent: Number(parent), group: Number(group), session: 0, words: spread });
  }
  const wordsOf = (pid: number): string => rows.get(pid)?.words ?? '';
  return { find: (pid) => rows.get(pid), environmentOf: wordsOf, commandOf: wordsOf, list: () => [...rows.keys()] };
}
