import { openPostgresStore, type PostgresStoreOptions } from '../../src/ledger/postgres/postgres-store.ts';
import type { Store } from '../../src/ledger/store.ts';

/** Where the store must open: a problem is thrown. */
export async function requireStore(options: PostgresStoreOptions): Promise<Store> {
  const opened = await openPostgresStore(options);
  if (!opened.ok) throw new Error(`${opened.problem.message} ${opened.problem.hint}`);
  return opened.store;
}
