import { makePostgresDatabase, type PostgresOptions } from '../ledger/postgres/postgres-store.ts';
import type { Failure, Store } from '../ledger/store.ts';
import { type HostOfProject, recoverChain } from './recovery.ts';
import { type FleetTables, makeFleetTables } from './tables.ts';

/** One PostgreSQL database, shared by the projects of one daemon. */
export interface FleetDatabase {
  openProject(name: string, host: HostOfProject): Promise<OpenedFleetProject>;
  close(): Promise<void>;
}

type OpenedFleetProject =
  | { readonly ok: true; readonly store: Store; readonly project: number; readonly fleet: FleetTables }
  | Failure;

export function makeFleetDatabase(options: PostgresOptions): FleetDatabase {
  const database = makePostgresDatabase(options);
  const beats = database.connect('fleet');
  return {
    async openProject(name, host) {
      const opened = await database.openProject(name, (connect) => recoverChain(connect, host));
      if (!opened.ok) return opened;
      const tables = makeFleetTables(beats, opened.project);
      return {
        ...opened,
        fleet: {
          ...tables,
          async beat(beat) {
            const answer = await tables.beat(beat);
            if (answer.forked) opened.recheck();
            return answer;
          },
        },
      };
    },
    async close() {
      await beats.close();
      await database.close();
    },
  };
}
