import { type FleetView, type HostView, summarizeHost } from '../../api/fleet-view.ts';
import type { BeatAnswer, HostRow } from '../../protocol/fleet.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { renderStoreUrl } from '../../protocol/store-url.ts';
import { findFleet, hostOf, type HostRecord } from '../../state/fleet/fleet.ts';
import type { State } from '../../state/state.ts';

/** What a host knows about the other hosts besides the ledger. */
export interface FleetMeasures {
  readonly here: string;
  /** The number of entries in this host's ledger. */
  readonly size: number;
  /** The newest answer to this host's report; undefined before the first. */
  readonly answer: Pick<BeatAnswer, 'hosts' | 'caretaker' | 'generation' | 'joining'> | undefined;
  readonly url: string;
  readonly awaySince: string | null;
  readonly latencyMs: number | null;
  /** Why this host cannot take part, or why its replica cannot be written. */
  readonly problems?: readonly Pick<Problem, 'message' | 'hint'>[];
}

/** Undefined before the fleet is founded. The handler adds join requests, which it reads from the database. */
export function createFleetView(state: State, measures: FleetMeasures): FleetView | undefined {
  const fleet = findFleet(state);
  if (fleet === undefined) return undefined;
  const { here, answer, url, awaySince, latencyMs, problems = [] } = measures;
  const rows = new Map(answer?.hosts.map((row) => [row.host, row]));
  // Reports are up to a second old, so a host's lag is measured against the newest report, not against the ledger's
  // head.
  const newest = Math.max(0, ...[...rows.values()].map((row) => row.size));
  const caretaker = answer?.caretaker ?? fleet.caretaker;
  const around = { here, newest, caretaker: caretaker?.host, busy: countBusy(state) };
  const hosts = [...state.hosts.values()].map((host) =>
    hostView(host, host.removed === null ? rows.get(host.name) : undefined, around),
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
  readonly busy: Busy;
}

/** How many agents and claims each host has. */
type Busy = Readonly<Record<'agents' | 'claims', ReadonlyMap<string | undefined, number>>>;

function countBusy(state: State): Busy {
  const [agents, claims] = [new Map<string | undefined, number>(), new Map<string | undefined, number>()];
  const count = (counts: typeof agents, run: { readonly host: string | null }): void => {
    const name = hostOf(run, state);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  for (const run of state.agents.values()) if (run.process === 'running') count(agents, run);
  for (const { claim } of state.tasks.values()) if (claim !== null) count(claims, claim);
  return { agents, claims };
}

function hostView(host: HostRecord, row: HostRow | undefined, around: Around): HostView {
  const { name, key, labels, agents: allowed } = host;
  const { agents, claims } = around.busy;
  const view = {
    name,
    state: stateOf(host, row, name === around.here),
    here: name === around.here,
    caretaker: name === around.caretaker,
    key,
    labels,
    agents: { running: agents.get(name) ?? 0, allowed },
    claims: claims.get(name) ?? 0,
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

/** A host without a report for this long counts as silent. Hosts report once a second. */
const SILENT_MS = 5000;
