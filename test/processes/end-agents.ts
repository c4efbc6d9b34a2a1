import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ends what a daemon has started and left running: agents outlive it, and so they would outlive a test that fails. */
export function endAgents(stateDir: string): void {
  for (const file of globSync('{agents,commands}/*/running-*.json', { cwd: stateDir })) {
    const { supervisor, process: agent }: Record<string, string> = JSON.parse(
      readFileSync(join(stateDir, file), 'utf8'),
    );
    for (const identity of [agent, supervisor]) end(identity ?? '');
  }
}

/** A process and its group, where it is still the one that is meant. */
function end(identity: string): void {
  const [boot, pid, startTime] = identity.split('/');
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const isSame = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] === startTime;
    if (isSame && boot !== '?') process.kill(-Number(pid), 'SIGKILL');
  } catch {
    // It has gone, or leads no group.
  }
}
