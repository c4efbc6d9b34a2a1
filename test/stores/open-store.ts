import { openSqliteStore } from '../../src/ledger/sqlite/open.ts';
import type { Store } from '../../src/ledger/store.ts';
import { requireStore } from '../postgres/open-store.ts';
import { isPostgres, STORE_URL } from './chosen.ts';

/** Opens a project's ledger for reading: the file, or the tables of which the file is a replica. */
export async function openChosenStore(ledgerFile: string, project: string): Promise<Store> {
  if (isPostgres) return requireStore({ url: STORE_URL, project, opening: 'daemons' });
  const opened = openSqliteStore(ledgerFile, { mode: 'read' });
  if (!opened.ok) throw new Error(opened.problem.message);
  return opened.store;
}
