import { basename, dirname, join } from 'node:path';
import { readFileIfPresent } from './files.ts';
import { readProcessIdentity, readProcFile, readProcStat } from './processes.ts';

/**
 * Whether a process with the mark of a run (`NAME=id` in its environment) is another run's: a session can give its
 * processes any environment, and would keep the other run from ending, or be ended with it. The supervisors above a
 * process tell, and no session can pass for one. Without any above it, the mark counts.
 */
export function isOfOtherRun(pid: number, mark: string): boolean {
  const [name = '', id = ''] = mark.split('=', 2);
  const own = `${name === 'BATON_AGENT_ID' ? 'agents' : 'commands'}/${id}`;
  const above = findRunsAbove(pid);
  return above.length > 0 && !above.includes(own);
}

/** The runs whose supervisors are above a process, the nearest first, as `agents/ID` or `commands/ID`. */
function findRunsAbove(pid: number): string[] {
  const runs: string[] = [];
  const seen = new Set<number>();
  for (let each = readProcStat(pid)?.parent ?? 0; each > 1 && !seen.has(each); each = readProcStat(each)?.parent ?? 0) {
    seen.add(each);
    const run = findSupervisedRun(each);
    if (run !== undefined) runs.push(run);
  }
  return runs;
}

/** A supervisor's last arguments are the folder of its run and the number of the start, which it has claimed there. */
function findSupervisedRun(pid: number): string | undefined {
  const [, folder, start] = /\0([^\0]+)\0(\d+)\0$/.exec(readProcFile(pid, 'cmdline')) ?? [];
  if (folder === undefined) return undefined;
  const kind = basename(dirname(folder));
  if (kind !== 'agents' && kind !== 'commands') return undefined;
  const isClaimed = readFileIfPresent(join(folder, `taken-${start}`)) === readProcessIdentity(pid);
  return isClaimed ? `${kind}/${basename(folder)}` : undefined;
}
