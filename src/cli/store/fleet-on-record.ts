import { parseEntry } from '../../ledger/format/entry.ts';
import type { Store } from '../../ledger/store.ts';
import { findText, numberOf, textOf } from '../../protocol/shape/read-unknown.ts';

/** The ledger's record of a project's hosts. */
export interface FleetOnRecord {
  readonly founder: string;
  readonly rootCommit: string | null;
  remote: string | null;
  /** Hosts that were not removed, by name. */
  readonly hosts: Map<string, HostOnRecord>;
}

export interface HostOnRecord {
  /** The fingerprint of the host's key. */
  readonly key: string;
  readonly labels: readonly string[];
  readonly agents: number;
}

/** Undefined if the project was never on PostgreSQL. Reads all entries, and parses only those about hosts. */
export async function readFleetOnRecord(store: Pick<Store, 'entries'>): Promise<FleetOnRecord | undefined> {
  let fleet: FleetOnRecord | undefined;
  for await (const batch of store.entries({ from: 1 })) {
    for (const { bytes } of batch) if (mayBeAboutHosts(bytes)) fleet = fold(fleet, bytes);
  }
  return fleet;
}

const TYPES = ['FleetFounded', 'HostJoined', 'HostRemoved', 'RemoteChanged'];

function mayBeAboutHosts(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return TYPES.some((type) => text.includes(`"${type}"`));
}

function fold(fleet: FleetOnRecord | undefined, bytes: Uint8Array): FleetOnRecord | undefined {
  const parsed = parseEntry(bytes);
  if (!parsed.ok) return fleet;
  const { type, data } = parsed.value;
  const host = textOf(data['host']);
  if (type === 'FleetFounded') {
    const [rootCommit, remote] = [findText(data['root_commit']) ?? null, findText(data['remote']) ?? null];
    return { founder: host, rootCommit, remote, hosts: new Map() };
  }
  if (fleet === undefined) return undefined;
  if (type === 'RemoteChanged') fleet.remote = textOf(data['remote']);
  if (type === 'HostRemoved') fleet.hosts.delete(host);
  if (type === 'HostJoined') fleet.hosts.set(host, hostIn(data));
  return fleet;
}

function hostIn(data: Readonly<Record<string, unknown>>): HostOnRecord {
  const labels: unknown = data['labels'];
  return {
    key: textOf(data['key']),
    labels: Array.isArray(labels) ? labels.map(String) : [],
    agents: numberOf(data['agents']),
  };
}
