import { execFileSync } from 'node:child_process';
import { readBootId, readProcStat } from '../processes.ts';

/** A process above another one. */
export interface Ancestor {
  readonly pid: number;
  /** Told apart from every other that had or will have its number. */
  readonly identity: string;
  /** The name of its program, without the folder. */
  readonly program: string;
}

/** The processes above this one, the nearest first. */
export function readAncestors(pid: number = process.pid, read: ReadProcess = readProcess): readonly Ancestor[] {
  const found: Ancestor[] = [];
  for (let each = read(pid)?.parent ?? 0; each > 1 && found.length < MAX_ANCESTORS;) {
    const seen = read(each);
    if (seen === undefined) break;
    found.push({ pid: each, identity: seen.identity, program: seen.program });
    each = seen.parent;
  }
  return found;
}

type ReadProcess = (
  pid: number,
) => { readonly parent: number; readonly identity: string; readonly program: string } | undefined;

const MAX_ANCESTORS = 64;

const readProcess: ReadProcess = (pid) => (HAS_PROC ? readProc(pid) : readPs(pid));

const HAS_PROC = readProc(process.pid) !== undefined;

function readProc(pid: number): ReturnType<ReadProcess> {
  const [boot, stat] = [readBootId(), readProcStat(pid)];
  if (boot === undefined || stat === undefined) return undefined;
  return { parent: stat.parent, identity: `${boot}/${pid}/${stat.started}`, program: stat.program };
}

/** For systems without /proc. */
export function readPs(pid: number): ReturnType<ReadProcess> {
  try {
    const line = execFileSync('ps', ['-o', 'ppid=,lstart=,comm=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [, parent, started = '', program = ''] =
      /^\s*(\d+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/.exec(line.trimEnd()) ?? [];
    if (parent === undefined) return undefined;
    return { parent: Number(parent), identity: `ps/${pid}/${started}`, program: program.split('/').at(-1) ?? '' };
  } catch {
    return undefined;
  }
}
