import { readFileSync } from 'node:fs';

/**
 * A process, told apart from every other that had or will have its number: boot, number and start time. Undefined where there is
 * none, or where this system does not say when it started.
 */
export function identifyProcess(pid: number): string | undefined {
  const stat = readStat(pid);
  return stat === undefined || stat.isZombie ? undefined : `${stat.boot}/${pid}/${stat.started}`;
}

/** Whether it is known to have ended: another process, or none, has its number now, or the machine was started anew. */
export function hasEnded(identity: string): boolean {
  const pid = Number(identity.split('/')[1]);
  return readStat(process.pid) !== undefined && identifyProcess(pid) !== identity;
}

interface Stat {
  readonly boot: string;
  readonly started: string;
  /** It answers signals, but it is dead: nobody has collected it yet. */
  readonly isZombie: boolean;
}

function readStat(pid: number): Stat | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name, which may contain spaces and brackets: count from the last bracket on.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { boot, started: fields[19] ?? '', isZombie: fields[0] === 'Z' };
  } catch {
    return undefined;
  }
}
