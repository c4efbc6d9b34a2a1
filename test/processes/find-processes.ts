import { listLiving, readProcFile } from '../../src/api/processes.ts';

/**
 * Finds every live process that belongs to a state folder. Agents and commands have the folder in their environment.
 * Supervisors do not, because an agent can read its parent's environment, but have it in their command line.
 */
export function findProcesses(stateDir: string): number[] {
  return listLiving()
    .map(({ pid }) => pid)
    .filter((pid) => pid !== process.pid && belongsTo(pid, stateDir));
}

function belongsTo(pid: number, stateDir: string): boolean {
  return (
    `\0${readProcFile(pid, 'environ')}`.includes(`\0BATON_STATE_DIR=${stateDir}\0`) ||
    readProcFile(pid, 'cmdline').includes(`\0${stateDir}/`)
  );
}
