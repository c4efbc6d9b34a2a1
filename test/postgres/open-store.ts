import { openPostgresStore, type PostgresStoreOptions } from '../../src/ledger/postgres/postgres-store.ts';
import type { Store } from '../../src/ledger/store.ts';

/**
 * Opens the store of a test that is the only host, and throws if that fails. A busy machine may need longer than agents
 * would wait.
 */
export async function requireStore(options: PostgresStoreOptions): Promise<Store> {
  const opened = await openPostgresStore({ opening: 'alone', patienceMs: 15_000, ...options });
  if (!opened.ok) throw new Error(`${opened.problem.message} ${opened.problem.hint}`);
  return opened.store;
}
