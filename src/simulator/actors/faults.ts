import type { Fault } from '../scenario.ts';
import type { Host, World } from '../world/parts.ts';

/** Begins a fault, which ends by itself. */
export function beginFault({ kind, host: n, forMs, commits }: Fault, world: World): void {
  const host = world.hosts[n % world.hosts.length];
  if (host === undefined) return;
  const later = (end: () => void): void => world.timetable.in(forMs, () => world.isHealed || end());
  switch (kind) {
    case 'crash':
      // The daemon ends at one of its next commits: before or after the store has it.
      host.crashAfter = commits;
      host.crashBeforeCommit = commits % 2 === 0;
      return later(() => {
        host.crash();
        host.start();
      });
    case 'kill machine':
      killMachine(host);
      return later(() => host.start());
    case 'freeze':
      host.isFrozen = true;
      return later(() => (host.isFrozen = false));
    case 'cut off':
      host.isCutOff = true;
      return later(() => (host.isCutOff = false));
    case 'disk full':
      host.isDiskFull = true;
      return later(() => (host.isDiskFull = false));
    case 'clock jump':
      host.clockMs += (commits % 2 === 0 ? 1 : -1) * forMs * 20;
      return;
    case 'remote away':
      world.isRemoteAway = true;
      return later(() => (world.isRemoteAway = false));
  }
}

function killMachine(host: Host): void {
  host.crash();
  for (const process of host.world.processes.values())
    if (process.host === host) process.kill({ code: null, signal: 'SIGKILL' });
}

/** Ends every fault, and lets nothing new fail. */
export function heal(world: World): void {
  world.isHealed = true;
  world.isRemoteAway = false;
  // The clocks agree again on the latest time that one of them has told: what is due then, becomes due.
  const clockMs = Math.max(0, ...world.hosts.map((host) => Date.parse(host.at) - host.nowMs + host.clockMs));
  for (const host of world.hosts) {
    host.isFrozen = false;
    host.isCutOff = false;
    host.isDiskFull = false;
    host.crashAfter = undefined;
    host.clockMs = clockMs;
    host.start();
  }
}
