import { listProcesses, readProcFile, readProcStat } from './processes.ts';

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
    // Loaded only where it is needed: it costs every command some milliseconds.
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
