import { existsSync, globSync, rmSync } from 'node:fs';
import { type FleetDatabase, makeFleetDatabase } from '../../fleet/database.ts';
import type { FleetTables } from '../../fleet/tables.ts';
import type { Signer } from '../../ledger/format/crypto.ts';
import { openReplica } from '../../ledger/replica/open-replica.ts';
import { makeReplicatedStore } from '../../ledger/replica/replicated-store.ts';
import type { LockTimes } from '../../ledger/sqlite/lock-wait.ts';
import type { Failure } from '../../ledger/store.ts';
import { nodeVerifier } from '../../ledger/writer/keys.ts';
import { type LedgerPlace, NO_OUTSIDE_COPY, OutsideCopyFile } from '../../ledger/writer/ledger-files.ts';
import type { LedgerOptions } from '../../ledger/writer/ledger.ts';
import { openWriterAt } from '../../ledger/writer/open.ts';
import type { Problem } from '../../protocol/shape/problem.ts';

/** The store of a project's ledger, and the tables that its hosts share. */
interface ProjectStore {
  readonly ledger: Pick<LedgerOptions, 'store' | 'outside'>;
  /** Undefined on SQLite. */
  readonly fleet: FleetTables | undefined;
  /** The outside checkpoint is missing, although the ledger is not new. */
  readonly lacksCheckpoint: boolean;
}

export type OpenedProjectStore = { readonly ok: true; readonly opened: ProjectStore } | Failure;

interface StoreOptions {
  readonly place: LedgerPlace;
  readonly lockTimes: LockTimes;
  /** The URL of a database; undefined for SQLite in the state folder. */
  readonly url: string | undefined;
  readonly host: string;
  readonly signer: Signer;
  readonly databases: Databases;
  /** The admitted hosts, as far as this daemon has read the ledger. */
  readonly admitted: () => readonly string[] | undefined;
  readonly onReplicaSetAside: (replica: { readonly path: string; readonly problem: Problem }) => void;
}

export async function openProjectStore(options: StoreOptions): Promise<OpenedProjectStore> {
  const { place, lockTimes, url, databases } = options;
  if (url !== undefined) return openShared(options, databases.at(url));
  const lacksCheckpoint = !existsSync(place.outside);
  const found = await openWriterAt(place, lockTimes);
  if (!found.ok) return found;
  const ledger = { store: found.store, outside: new OutsideCopyFile(place.outside) };
  return { ok: true, opened: { ledger, fleet: undefined, lacksCheckpoint } };
}

async function openShared(
  { place, signer, host, admitted, onReplicaSetAside }: StoreOptions,
  database: FleetDatabase,
): Promise<OpenedProjectStore> {
  const isNew = !existsSync(place.ledger);
  const replica = await openReplica(place, { verifier: nodeVerifier, signer });
  if (!replica.ok) return replica;
  if (replica.setAside !== undefined) onReplicaSetAside(replica.setAside);
  const shared = await database.openProject(place.project, { host, admitted, replica: replica.store });
  if (!shared.ok) {
    await replica.store.close();
    // An empty file would mark the ledger as local, and a corrected `store` would then be refused.
    if (isNew) for (const file of globSync(`${place.ledger}*`)) rmSync(file, { force: true });
    return shared;
  }
  const ledger = { store: makeReplicatedStore(shared.store, replica.store), outside: NO_OUTSIDE_COPY };
  return { ok: true, opened: { ledger, fleet: shared.fleet, lacksCheckpoint: false } };
}

/** The databases of this daemon. Projects on the same database share its connections. */
export class Databases {
  readonly #open = new Map<string, FleetDatabase>();

  at(url: string): FleetDatabase {
    const database = this.#open.get(url) ?? makeFleetDatabase({ url });
    this.#open.set(url, database);
    return database;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(async (database) => database.close()));
    this.#open.clear();
  }
}
