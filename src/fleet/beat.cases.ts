import type { HostBeat } from '../protocol/fleet.ts';

/** Builds the beat of a host without claims that may become the caretaker. */
export function makeBeat(host: string, more: Partial<HostBeat> = {}): HostBeat {
  return {
    host,
    key: `key of ${host}`,
    version: '0.1.0',
    level: 1,
    size: 0,
    hash: '00'.repeat(32),
    offsetMs: 0,
    waiting: 0,
    leases: [],
    mayCare: true,
    careMs: 4000,
    graceMs: 0,
    term: 0,
    claims: null,
    ...more,
  };
}
