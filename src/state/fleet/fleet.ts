import type { Events, RecordedEvent } from '../event.ts';

/**
 * The hosts of a project and their agreements. Both maps are empty on SQLite, where one host without a name does
 * everything.
 */
export interface FleetState {
  /** Hosts by name. A removed host stays, because entries name it. */
  readonly hosts: Map<string, HostRecord>;
  /** The fleet, under a single key. */
  readonly fleet: Map<string, FleetRecord>;
}

export interface HostRecord {
  readonly name: string;
  /** The fingerprint of the host's key. */
  readonly key: string;
  readonly publicKey: string;
  readonly labels: readonly string[];
  /** How many agents may run on the host at once. */
  readonly agents: number;
  readonly draining: boolean;
  readonly joinedAt: string;
  readonly removed: { readonly at: string; readonly reason: string } | null;
}

export interface FleetRecord {
  /** Runs and claims without a host on record belong to the host that founded the fleet. */
  readonly founder: string;
  readonly rootCommit: string | null;
  readonly remote: string | null;
  /** Null before the first caretaker. */
  readonly caretaker: { readonly host: string; readonly term: number } | null;
  readonly level: number;
}

const FLEET = 'fleet';

/** Returns undefined on SQLite. */
export function findFleet({ fleet }: Pick<FleetState, 'fleet'>): FleetRecord | undefined {
  return fleet.get(FLEET);
}

/**
 * The remote through which hosts share work, and whose main branch is authoritative. Null on SQLite, and while the
 * project never had a second host: then its only host's repository is authoritative.
 */
export function findSharedRemote({ fleet, hosts }: Pick<FleetState, 'fleet' | 'hosts'>): string | null {
  return hosts.size > 1 ? (findFleet({ fleet })?.remote ?? null) : null;
}

export type Placed = { readonly host: string | null } | undefined;

/** The host of a run, claim or pipeline; the founder if none is recorded. Undefined on SQLite. */
export function hostOf(run: Placed, state: Pick<FleetState, 'fleet'>): string | undefined {
  return run?.host ?? findFleet(state)?.founder;
}

/** A host that has joined and was not removed; it may be draining, or silent. */
export function findHost({ hosts }: Pick<FleetState, 'hosts'>, name: string): HostRecord | undefined {
  const host = hosts.get(name);
  return host?.removed === null ? host : undefined;
}

/** Hosts that were not removed. */
export function listHosts({ hosts }: Pick<FleetState, 'hosts'>): readonly HostRecord[] {
  return [...hosts.values()].filter(({ removed }) => removed === null);
}

export function evolveFleet(state: FleetState, { type, data, at }: RecordedEvent): void {
  switch (type) {
    case 'FleetFounded': {
      const { host: founder, root_commit: rootCommit, remote } = data;
      state.fleet.set(FLEET, { founder, rootCommit, remote, caretaker: null, level: 1 });
      break;
    }
    case 'HostJoined':
      state.hosts.set(data.host, joined(state.hosts.get(data.host), data, at));
      break;
    case 'HostDrained':
      changeHost(state, data.host, { draining: data.draining });
      break;
    case 'HostRemoved':
      changeHost(state, data.host, { removed: { at, reason: data.reason } });
      break;
    case 'CaretakerChanged':
      changeFleet(state, { caretaker: data });
      break;
    case 'LevelRaised':
      changeFleet(state, { level: data.level });
      break;
    case 'RemoteChanged':
      changeFleet(state, { remote: data.remote });
      break;
    default:
  }
}

/** A host that joins again keeps the time of its first join, unless it was removed. */
function joined(before: HostRecord | undefined, data: Events['HostJoined'], at: string): HostRecord {
  const { host: name, key, public_key: publicKey, labels, agents } = data;
  const since = before?.removed === null ? before : undefined;
  const { draining = false, joinedAt = at } = since ?? {};
  return { name, key, publicKey, labels, agents, draining, joinedAt, removed: null };
}

function changeHost({ hosts }: FleetState, name: string, change: Partial<HostRecord>): void {
  const host = hosts.get(name);
  if (host !== undefined) hosts.set(name, { ...host, ...change });
}

function changeFleet({ fleet }: FleetState, change: Partial<FleetRecord>): void {
  const record = fleet.get(FLEET);
  if (record !== undefined) fleet.set(FLEET, { ...record, ...change });
}
