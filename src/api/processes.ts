import { readdirSync, readFileSync } from 'node:fs';
import { isShortage } from '../protocol/resource-faults.ts';

export interface ProcStat {
  readonly pid: number;
  readonly program: string;
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** The start time in ticks since boot. With the pid it is unique until the next boot. */
  readonly started: string;
  /** The process was killed or has exited, and the kernel is still closing its files. */
  readonly isExiting: boolean;
  /** A zombie with more than one thread is still exiting: its other threads hold its files. */
  readonly threads: number;
}

/** Returns undefined if there is no such process or the system is not Linux. */
export function readProcStat(pid: number): ProcStat | undefined {
  const stat = readProcFile(pid, 'stat');
  // The program name is in parentheses and may contain some itself.
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
    threads: Number(fields[17]),
  };
}

const PF_EXITING = 0x4;

/** A zombie accepts signals but has ended. */
export function isLiving({ state }: ProcStat): boolean {
  return state !== 'Z' && state !== 'X';
}

/** Empty if the process does not exist or belongs to another user. Throws on a shortage, which proves neither. */
export function readProcFile(pid: number, file: 'environ' | 'cmdline' | 'stat'): string {
  return readUnlessShort('', () => readFileSync(`/proc/${pid}/${file}`, 'latin1'));
}

export function listLiving(): readonly ProcStat[] {
  return listProcesses().flatMap((pid) => {
    const stat = readProcStat(pid);
    return stat !== undefined && isLiving(stat) ? [stat] : [];
  });
}

function listProcesses(): readonly number[] {
  const names = readUnlessShort([], () => readdirSync('/proc'));
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

export function readBootId(): string | undefined {
  return readUnlessShort(undefined, () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
}

/** Throws on a shortage, which proves nothing. */
function readUnlessShort<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isShortage(error)) throw error;
    return otherwise;
  }
}

/**
 * Boot id, pid and start time: unique over time. Undefined if there is no such process or the system does not report
 * start times.
 */
export function readProcessIdentity(pid: number): string | undefined {
  const [boot, stat] = [readBootId(), readProcStat(pid)];
  return boot === undefined || stat === undefined || !isLiving(stat) ? undefined : `${boot}/${pid}/${stat.started}`;
}

/** Returns false if that is unknown. */
export function hasEnded(identity: string): boolean {
  const pid = Number(identity.split('/')[1]);
  try {
    return readProcessIdentity(process.pid) !== undefined && readProcessIdentity(pid) !== identity;
  } catch (error) {
    // Without a free descriptor the state is unknown.
    if (isShortage(error)) return false;
    throw error;
  }
}

/** Like the identity, but with only the pid if it cannot be read. */
export function readProcessName(pid: number): string {
  const unknown = `?/${pid}/?`;
  try {
    return readProcessIdentity(pid) ?? unknown;
  } catch (error) {
    if (isShortage(error)) return unknown;
    throw error;
  }
}

export interface ProcessTable {
  readonly find: (pid: number) => ProcessLinks | undefined;
  /** A process's environment as `NAME=value`, each after a NUL; empty for another user's process. */
  readonly environmentOf: (pid: number) => string;
  /** A process's arguments, each after a NUL. */
  readonly commandOf: (pid: number) => string;
  readonly list: () => readonly number[];
}

interface ProcessLinks {
  readonly parent: number;
  readonly group: number;
  /** The session id; 0 if the system does not report it. */
  readonly session: number;
}

/** Reads each process at most once. */
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

/** For systems without /proc: one `ps` call for all processes. `-E` adds the environment of this user's processes. */
function runPs(): string {
  try {
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

/** Parses the output of `ps`, which prints command line and environment as one text. */
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
