import { basename, dirname, join } from 'node:path';
import { readFileIfPresent } from './files.ts';
import { readProcessIdentity, readProcFile, readProcStat } from './processes.ts';

/**
 * Returns whether a process with the mark of a run (`NAME=id` in its environment) belongs to another run. A session can
 * give its processes any environment, and so could keep another run from ending, or have its process killed with it.
 * The supervisors among the ancestors decide, because no session can imitate one. Without any supervisor above, the
 * mark counts.
 */
export function isOfOtherRun(pid: number, mark: string): boolean {
  const [name = '', id = ''] = mark.split('=', 2);
  const own = `${name === 'BATON_AGENT_ID' ? 'agents' : 'commands'}/${id}`;
  const above = findRunsAbove(pid);
  return above.length > 0 && !above.includes(own);
}

/** The runs whose supervisors are ancestors of a process, nearest first, as `agents/ID` or `commands/ID`. */
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
