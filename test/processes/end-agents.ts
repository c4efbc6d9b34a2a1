import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ends the agents that a daemon has left running: they outlive it, and so would outlive a failing test. */
export function endAgents(stateDir: string): void {
  for (const file of globSync('{agents,commands}/*/running-*.json', { cwd: stateDir })) {
    const { supervisor, process: agent }: Record<string, string> = JSON.parse(
      readFileSync(join(stateDir, file), 'utf8'),
    );
    for (const identity of [agent, supervisor]) end(identity ?? '');
  }
}

/** Ends a process and its group, if the pid still belongs to the same process. */
function end(identity: string): void {
  const [boot, pid, startTime] = identity.split('/');
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const isSame = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] === startTime;
    if (isSame && boot !== '?') process.kill(-Number(pid), 'SIGKILL');
  } catch {
    // The process has exited, or leads no group.
  }
}
