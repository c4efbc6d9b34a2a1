import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../store.ts';
import { OutsideCopyFile } from '../writer/ledger-files.ts';
import { testOptions } from '../writer/ledger.cases.ts';
import type { Ledger, LedgerOptions } from '../writer/ledger.ts';
import { type OpenedLedger, openLedger } from '../writer/open.ts';
import { openSqliteStore } from './open.ts';
import type { SqliteStore } from './sqlite-store.ts';

/** A folder for the files of a ledger, removed on disposal. */
export class TestFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'baton-ledger-'));
  readonly ledger = join(this.path, 'ledger.db');
  readonly outside = join(this.path, 'ledger.db.checkpoint');

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  openStore(mode: 'read' | 'write'): SqliteStore {
    const opened = openSqliteStore(this.ledger, { mode });
    if (!opened.ok) throw new Error(opened.problem.message);
    return opened.store;
  }

  /** Opens for writing and returns the answer; closes the store if opening is refused. */
  async tryOpen(changes: Partial<LedgerOptions> = {}): Promise<OpenedLedger> {
    const store = this.openStore('write');
    const opened = await openLedger(testOptions({ store, outside: new OutsideCopyFile(this.outside), ...changes }));
    if (!opened.ok) await store.close();
    return opened;
  }

  async open(changes: Partial<LedgerOptions> = {}): Promise<Ledger> {
    const opened = await this.tryOpen(changes);
    if (!opened.ok) throw new Error(opened.problem.message);
    return opened.ledger;
  }
}

export function isSqliteStore(store: Store): store is SqliteStore {
  return store.kind === 'sqlite';
}
