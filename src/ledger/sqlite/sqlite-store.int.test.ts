import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeDurableStore, describeStore, type StorePlace } from '../store.cases.ts';
import { openSqliteStore } from './sqlite-store.ts';

describeStore('SQLite', makePlace);
describeDurableStore('SQLite', makePlace);

async function makePlace(): Promise<StorePlace> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-ledger-'));
  return {
    open: async () => {
      const opened = openSqliteStore(join(folder, 'ledger.db'), { mode: 'write' });
      if (!opened.ok) throw new Error(opened.problem.message);
      return opened.store;
    },
    remove: async () => rmSync(folder, { recursive: true }),
  };
}
