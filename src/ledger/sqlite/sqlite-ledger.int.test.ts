import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isLongLane } from '../../../test/lanes.ts';
import { toHex } from '../format/bytes.ts';
import { all, waitUntil } from '../store.cases.ts';
import { verifyLedger } from '../verify/verify-ledger.ts';
import type { AppendResult } from '../writer/commit-group.ts';
import { nodeVerifier } from '../writer/keys.ts';
import { record, testDraft } from '../writer/ledger.cases.ts';
import type { Ledger } from '../writer/ledger.ts';
import { openSqliteStore } from './open.ts';
import { isSqliteStore, TestFolder } from './sqlite.cases.ts';

const READERS = isLongLane ? 8 : 3;

describe('the file of a ledger', () => {
  it('is in WAL mode, fully synchronous, and marked as ours', async () => {
    using folder = new TestFolder();
    const ledger = await folder.open();
    const db = new DatabaseSync(folder.ledger);
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    expect(db.prepare('PRAGMA application_id').get()).toEqual({ application_id: 0x42_61_74_6e });
    expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 });
    expect(
      db
        .prepare(`SELECT name FROM pragma_table_list WHERE schema = 'main' AND NOT strict AND name NOT LIKE 'sqlite_%'`)
        .all(),
    ).toEqual([]);
    db.close();
    await ledger.close();
  });

  it('refuses to write after the file was removed, because the data would be lost with the process', async () => {
    using folder = new TestFolder();
    const ledger = await folder.open();
    await record(ledger, [testDraft(1)]);
    renameSync(folder.ledger, `${folder.ledger}.moved`);
    // Not every commit checks that the file exists, so this appends until one does.
    let refused: AppendResult | undefined;
    while (refused === undefined) {
      const answer = await ledger.append([testDraft(2)]);
      if (!answer.ok) refused = answer;
    }
    const { size } = ledger.head;
    expect(refused).toMatchObject({ problem: { code: 'ledger/replaced' } });
    writeFileSync(folder.ledger, 'another file');
    expect(await ledger.append([testDraft(2)])).toMatchObject({ ok: false, problem: { code: 'ledger/replaced' } });
    renameSync(`${folder.ledger}.moved`, folder.ledger);
    await record(ledger, [testDraft(2)]);
    await ledger.close();
    const again = await folder.open();
    expect(again.head.size).toBe(size + 1);
    await again.close();
  });

  it.each(['entry', 'tile', 'blob'])('refuses to change or delete a row of %s', async (table) => {
    using folder = new TestFolder();
    const ledger = await folder.open();
    await record(
      ledger,
      Array.from({ length: 300 }, (_, i) => testDraft(i)),
    );
    await ledger.store.putBlob(nodeVerifier.sha256(Buffer.of(1)), Buffer.of(1));
    const before = toHex(ledger.head.hash);
    const db = new DatabaseSync(folder.ledger);
    db.exec('PRAGMA recursive_triggers = ON');
    const [column = ''] = db
      .prepare(`SELECT name FROM pragma_table_info(?)`)
      .all(table)
      .map(({ name }) => String(name));
    expect(() => db.exec(`UPDATE ${table} SET ${column} = ${column}`)).toThrow('append-only: UPDATE');
    expect(() => db.exec(`DELETE FROM ${table}`)).toThrow('append-only: DELETE');
    const replace = (): void => db.exec(`INSERT OR REPLACE INTO ${table} SELECT * FROM ${table} LIMIT 1`);
    // Inserting an existing blob is ignored without an error, since two callers may store the same one.
    expect(table === 'blob' ? 'ignored' : complaintOf(replace)).toMatch(/ignored|append-only/);
    db.close();
    expect(toHex((await ledger.store.head()).hash)).toBe(before);
    expect((await verifyLedger(ledger.store, { project: 'demo', verifier: nodeVerifier })).ok).toBe(true);
    await ledger.close();
  });

  it('is not changed if it is foreign, or of a newer or an older Baton', () => {
    using folder = new TestFolder();
    const db = new DatabaseSync(folder.ledger);
    db.exec('CREATE TABLE theirs (x)');
    const open = (): unknown => openSqliteStore(folder.ledger, { mode: 'write' });
    expect(open()).toMatchObject({ ok: false, problem: { code: 'ledger/not-a-ledger' } });
    db.exec('DROP TABLE theirs; PRAGMA application_id = 1113683054; PRAGMA user_version = 999');
    expect(open()).toMatchObject({ ok: false, problem: { code: 'ledger/newer-ledger' } });
    db.exec('PRAGMA user_version = 1; CREATE TABLE checkpoint (size INTEGER)');
    expect(open()).toMatchObject({ ok: false, problem: { code: 'ledger/older-ledger' } });
    db.close();
  });

  it('is reported if it is missing or no database', () => {
    using folder = new TestFolder();
    expect(openSqliteStore(folder.ledger, { mode: 'read' })).toMatchObject({
      problem: { code: 'ledger/missing' },
    });
    expect(existsSync(folder.ledger)).toBe(false);
    expect(openSqliteStore(folder.path, { mode: 'read' })).toMatchObject({
      problem: { code: 'ledger/cannot-open', hint: expect.stringContaining('Check the owner of the file') },
    });
    writeFileSync(folder.ledger, 'SQLite format 2\0'.padEnd(8192));
    expect(openSqliteStore(folder.ledger, { mode: 'read' })).toMatchObject({
      problem: { code: 'ledger/cannot-open', hint: expect.stringContaining('Restore it from a backup') },
    });
  });
});

describe('a second writer', () => {
  it('is refused with the name of the first writer', async () => {
    using folder = new TestFolder();
    const first = await folder.open();
    const second = openSqliteStore(folder.ledger, { mode: 'write' });
    expect(second).toMatchObject({ ok: false, problem: { code: 'ledger/taken' } });
    expect(!second.ok && second.problem.message).toMatch(
      new RegExp(`process ${process.pid} on \\S+, since \\d{4}-\\d\\d-\\d\\dT`),
    );
    await first.close();
    const third = await folder.open();
    await third.close();
  });

  it('is refused in another process, too, and may write after that one was killed', async () => {
    using folder = new TestFolder();
    const script = join(import.meta.dirname, '../../../test/faults/sqlite-writer.ts');
    const writer = spawn(process.execPath, [script, folder.ledger], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(writer, 'close');
    await once(writer.stdout, 'data');
    writer.stdout.resume();
    const refusal = openSqliteStore(folder.ledger, { mode: 'write' });
    writer.kill('SIGKILL');
    expect(!refusal.ok && refusal.problem.message).toContain(`process ${writer.pid} on `);
    await ended;
    const ledger = await folder.open();
    await ledger.close();
  });
});

describe('a writer that ignores the lock', () => {
  it('causes a conflict, and is then detected', async () => {
    using folder = new TestFolder();
    const ledger = await folder.open();
    const db = new DatabaseSync(folder.ledger);
    db.exec(`INSERT INTO entry VALUES (2, zeroblob(32), NULL, zeroblob(9))`);
    db.close();
    // The foreign entry has no checkpoint, so catching up adds nothing and appends stay refused.
    for (let i = 0; i < 2; i += 1) expect((await ledger.append([testDraft(i)])).ok).toBe(false);
    expect((await verifyLedger(ledger.store, { project: 'demo', verifier: nodeVerifier })).ok).toBe(false);
    await ledger.close();
    expect((await folder.tryOpen()).ok).toBe(false);
  });
});

describe('readers', () => {
  it('follow the commits of another process without polling', async () => {
    using folder = new TestFolder();
    const ledger = await folder.open();
    const reader = folder.openStore('read');
    let seen = 0;
    const stop = reader.watch((head) => {
      seen = head.size;
    });
    for (let i = 0; i < 20; i += 1) {
      await record(ledger, [testDraft(i)]);
      await waitUntil(() => seen === ledger.head.size);
    }
    expect(seen).toBe(21);
    stop();
    await reader.close();
    await ledger.close();
  });

  it('cannot write', async () => {
    using folder = new TestFolder();
    const ledger = await folder.open();
    const reader = folder.openStore('read');
    await expect(
      reader.saveSnapshot('x', { size: 0, hash: new Uint8Array(32), bytes: new Uint8Array(0) }),
    ).rejects.toThrow('readonly');
    await reader.close();
    await ledger.close();
  });

  it(`see no error and no gap while 100 callers write: ${READERS} processes`, async () => {
    using folder = new TestFolder();
    const ledger = await folder.open();
    await record(ledger, [testDraft(0)]);
    const readers = Array.from({ length: READERS }, () => startReader(folder.ledger));
    await Promise.all(readers.map(({ started }) => started));
    let recorded = 0;
    await Promise.all(
      Array.from({ length: 100 }, async (_, caller) => {
        for (let i = 0; i < 20; i += 1) {
          const answer = await ledger.append([testDraft(i, `T${caller}`)]);
          if (answer.ok) recorded += 1;
        }
      }),
    );
    expect(recorded).toBe(2_000);
    await record(ledger, [{ actor: 'system:test', type: 'TestEnded', data: {} }]);
    const reports = await Promise.all(readers.map(({ report }) => report));
    expect(reports).toEqual(Array.from({ length: READERS }, () => ({ code: 0, text: 'in order: 2003' })));
    expect((await verifyLedger(ledger.store, { project: 'demo', verifier: nodeVerifier })).ok).toBe(true);
    await ledger.close();
  }, 60_000);
});

describe('a backup', () => {
  it('is created while writing continues, and is a separate ledger', async () => {
    using folder = new TestFolder();
    using copy = new TestFolder();
    const ledger = await folder.open();
    await record(
      ledger,
      Array.from({ length: 2_000 }, (_, i) => testDraft(i)),
    );
    const { store } = ledger;
    if (!isSqliteStore(store)) throw new Error('the test needs the SQLite store');
    const progress = { done: false };
    const backup = store.backupTo(copy.ledger).finally(() => {
      progress.done = true;
    });
    for (let i = 0; !progress.done; i += 1) await record(ledger, [testDraft(i)]);
    await backup;
    const reader = copy.openStore('read');
    const verified = await verifyLedger(reader, {
      project: 'demo',
      verifier: nodeVerifier,
      allSignatures: true,
    });
    expect(verified.ok && verified.size).toBeGreaterThanOrEqual(2_001);
    await reader.close();
    await ledger.close();
  });
});

describe('the WAL', () => {
  it('is copied back after a short time without writes', async () => {
    using folder = new TestFolder();
    const ledger = await folder.open();
    await record(
      ledger,
      Array.from({ length: 500 }, (_, i) => testDraft(i)),
    );
    await waitUntil(() => statSync(folder.ledger).size > 100_000);
    await ledger.close();
    expect(existsSync(`${folder.ledger}-wal`)).toBe(false);
  });
});

describe('the outside checkpoint', () => {
  it('is written after one turn of the event loop', async () => {
    using folder = new TestFolder();
    const ledger = await folder.open();
    for (let i = 0; i < 12; i += 1) {
      await record(ledger, [testDraft(i)]);
      await turn();
      expect(readFileSync(folder.outside, 'utf8')).toBe((await ledger.store.findCheckpoint())?.note);
    }
    const entries = await all(ledger.store.entries({ from: 1 }));
    expect(entries.filter(({ note }) => note !== undefined)).toHaveLength(13);
    await ledger.close();
  });

  it.each<[string, (ledger: Ledger) => Promise<void>]>([
    ['a ledger that is closed', async (ledger) => ledger.close()],
    ['a seal', async (ledger) => ledger.syncOutside()],
  ])('is the newest one without a turn behind %s', async (_, act) => {
    using folder = new TestFolder();
    const ledger = await folder.open();
    await turn();
    await record(ledger, [testDraft(1)]);
    const note = (await ledger.store.findCheckpoint())?.note;
    await act(ledger);
    expect(readFileSync(folder.outside, 'utf8')).toBe(note);
    await ledger.close();
  });
});

function complaintOf(act: () => void): string {
  try {
    act();
    return 'none';
  } catch (error) {
    return String(error);
  }
}

interface Report {
  readonly code: unknown;
  readonly text: string;
}

function startReader(path: string): { started: Promise<unknown>; report: Promise<Report> } {
  const script = join(import.meta.dirname, '../../../test/faults/sqlite-reader.ts');
  const reader = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  reader.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const started = once(reader.stdout, 'data');
  const report = once(reader, 'close').then(([code]) => ({
    code,
    text: output.trim().split('\n').at(-1) ?? '',
  }));
  return { started, report };
}
