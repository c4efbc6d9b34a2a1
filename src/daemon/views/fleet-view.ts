import { type FleetView, type HostView, summarizeHost } from '../../api/fleet-view.ts';
import type { BeatAnswer, HostRow } from '../../protocol/fleet.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { renderStoreUrl } from '../../protocol/store-url.ts';
import { findFleet, hostOf, type HostRecord } from '../../state/fleet/fleet.ts';
import type { State } from '../../state/state.ts';

/** What a host knows about the others beside the ledger. */
export interface FleetMeasures {
  readonly here: string;
  /** How many entries the ledger of this host has. */
  readonly size: number;
  /** The newest answer to its report; undefined before the first. */
  readonly answer: Pick<BeatAnswer, 'hosts' | 'caretaker' | 'generation' | 'joining'> | undefined;
  readonly url: string;
  readonly awaySince: string | null;
  readonly latencyMs: number | null;
  /** What keeps this host from taking part, or its replica from being written. */
  readonly problems?: readonly Pick<Problem, 'message' | 'hint'>[];
}

/** Undefined before the fleet is founded. Requests to join are added by the handler, which asks the database. */
export function createFleetView(state: State, measures: FleetMeasures): FleetView | undefined {
  const fleet = findFleet(state);
  if (fleet === undefined) return undefined;
  const { here, answer, url, awaySince, latencyMs, problems = [] } = measures;
  const rows = new Map(answer?.hosts.map((row) => [row.host, row]));
  // Reports are a second old: a host is behind the newest of them, not behind what was recorded since.
  const newest = Math.max(0, ...[...rows.values()].map((row) => row.size));
  const caretaker = answer?.caretaker ?? fleet.caretaker;
  const hosts = [...state.hosts.values()].map((host) =>
    hostView(state, host, host.removed === null ? rows.get(host.name) : undefined, {
      here,
      newest,
      caretaker: caretaker?.host,
    }),
  );
  return {
    here,
    hosts,
    caretaker,
    joining: answer?.joining ?? 0,
    requests: [],
    level: fleet.level,
    size: Math.max(measures.size, newest),
    remote: fleet.remote,
    store: {
      url: renderStoreUrl(url),
      generation: answer?.generation ?? null,
      away_since: awaySince,
      latency_ms: latencyMs === null ? null : Math.round(latencyMs),
    },
    problems: problems.map(({ message, hint }) => ({ message, hint })),
  };
}

interface Around {
  readonly here: string;
  readonly newest: number;
  readonly caretaker: string | undefined;
}

function hostView(state: State, host: HostRecord, row: HostRow | undefined, around: Around): HostView {
  const { name, key, labels, agents: allowed } = host;
  const isOf = (run: { readonly host: string | null }): boolean => hostOf(run, state) === name;
  const view = {
    name,
    state: stateOf(host, row, name === around.here),
    here: name === around.here,
    caretaker: name === around.caretaker,
    key,
    labels,
    agents: {
      running: [...state.agents.values()].filter((run) => run.process === 'running' && isOf(run)).length,
      allowed,
    },
    claims: [...state.tasks.values()].filter(({ claim }) => claim !== null && isOf(claim)).length,
    version: row?.version ?? null,
    level: row?.level ?? null,
    lag: row === undefined ? null : around.newest - row.size,
    offset_ms: row === undefined ? null : Math.round(row.offsetMs),
    silent_ms: row === undefined ? null : Math.max(0, Math.round(row.silentMs)),
  };
  return { ...view, summary: summarizeHost(view) };
}

function stateOf({ removed, draining }: HostRecord, row: HostRow | undefined, isHere: boolean): HostView['state'] {
  if (removed !== null) return 'removed';
  if (!isHere && (row === undefined || row.silentMs > SILENT_MS)) return 'silent';
  return draining ? 'draining' : 'live';
}

/** A host reports once a second. */
const SILENT_MS = 5000;
