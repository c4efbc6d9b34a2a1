import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { TestFolder } from '../../src/ledger/sqlite/sqlite.cases.ts';
import { verifyLedger } from '../../src/ledger/verify/verify-ledger.ts';
import { nodeVerifier } from '../../src/ledger/writer/keys.ts';
import { record, testDraft } from '../../src/ledger/writer/ledger.cases.ts';

/** The size of a WAL's header, and of one frame: a page with SQLite's frame header. */
const WAL_HEADER = 32;
const FRAME = 4096 + 24;

describe('a torn end of the WAL', () => {
  it('loses nothing that was acknowledged, wherever it is torn', async () => {
    using origin = new TestFolder();
    const ledger = await origin.open();
    for (let i = 0; i < 20; i += 1) await record(ledger, [testDraft(i)]);
    const acknowledged = keep(origin);
    await record(ledger, [testDraft(20), testDraft(21)]);
    const next = keep(origin);
    expect(next.wal.length).toBeGreaterThan(acknowledged.wal.length);
    await ledger.close();
    // The outside copy is written after the commit, so here it is from an earlier commit.
    for (let length = acknowledged.wal.length; length < next.wal.length; length += 509) {
      const cut = next.wal.subarray(0, length);
      const rubbish = Buffer.concat([cut, Buffer.alloc(next.wal.length - length, 0xa5)]);
      for (const wal of [cut, rubbish]) {
        using folder = put({ ...acknowledged, wal });
        const again = await folder.open();
        expect(again.head.size).toBe(21);
        await record(again, [testDraft(20)]);
        expect((await verifyLedger(again.store, { project: 'demo', verifier: nodeVerifier })).ok).toBe(true);
        await again.close();
      }
    }
  }, 60_000);
});

describe('the start', () => {
  it('detects a flipped bit in a synced WAL: SQLite itself silently drops every later commit', async () => {
    using origin = new TestFolder();
    const ledger = await origin.open();
    for (let i = 0; i < 20; i += 1) await record(ledger, [testDraft(i)]);
    await turn();
    const files = keep(origin);
    await ledger.close();
    let noticed = 0;
    for (let at = WAL_HEADER + 40; at < files.wal.length; at += FRAME) {
      const wal = Buffer.from(files.wal);
      wal[at] = (wal[at] ?? 0) ^ 0x04;
      using folder = put({ ...files, wal });
      const opened = await folder.tryOpen();
      expect(opened).toMatchObject({ ok: false, problem: { code: 'ledger/rolled-back' } });
      const store = folder.openStore('read');
      const outside = readFileSync(folder.outside, 'utf8');
      const verified = await verifyLedger(store, { project: 'demo', verifier: nodeVerifier, outside });
      expect(verified).toMatchObject({ ok: false, findings: [{ problem: { code: 'ledger/rolled-back' } }] });
      await store.close();
      noticed += 1;
    }
    expect(noticed).toBeGreaterThan(10);
  }, 60_000);

  it('detects an older copy of the file, and leaves it unchanged', async () => {
    using folder = new TestFolder();
    const ledger = await folder.open();
    await record(ledger, [testDraft(1)]);
    await ledger.close();
    const older = readFileSync(folder.ledger);
    const again = await folder.open();
    await record(again, [testDraft(2)]);
    await again.close();
    writeFileSync(folder.ledger, older);
    const opened = await folder.tryOpen();
    expect(opened).toMatchObject({
      ok: false,
      problem: { code: 'ledger/rolled-back', message: expect.stringContaining('entries 3 to 3 are missing') },
    });
    expect(readFileSync(folder.ledger).equals(older)).toBe(true);
  });

  it('detects a fork: the same key, the same length, another history', async () => {
    using folder = new TestFolder();
    using other = new TestFolder();
    for (const [place, number] of [
      [folder, 1],
      [other, 2],
    ] as const) {
      const ledger = await place.open();
      await record(ledger, [testDraft(number)]);
      await ledger.close();
    }
    copyFileSync(other.ledger, folder.ledger);
    expect(await folder.tryOpen()).toMatchObject({ ok: false, problem: { code: 'ledger/forked' } });
  });

  it.each([
    [
      'an entry',
      `UPDATE entry SET bytes = CAST(replace(CAST(bytes AS TEXT), 'Schritt', 'schritt') AS BLOB) WHERE seq = 3`,
    ],
    ['a hash', 'UPDATE entry SET hash = zeroblob(32) WHERE seq = 3'],
    ['a number', 'UPDATE entry SET seq = 9 WHERE seq = 4'],
    ['a checkpoint', "UPDATE entry SET note = replace(note, 'previous 2', 'previous 1') WHERE seq = 3"],
    ['the newest checkpoint', 'UPDATE entry SET note = NULL WHERE seq = 4'],
    ['a checkpoint in between', 'UPDATE entry SET note = NULL WHERE seq = 3'],
    ['an entry taken out', 'DELETE FROM entry WHERE seq = 3'],
    ['an entry put in', 'INSERT INTO entry VALUES (5, zeroblob(32), NULL, zeroblob(9))'],
    ['a tile put in', 'INSERT INTO tile VALUES (8, 0, zeroblob(32))'],
  ])('notices %s changed after the outside checkpoint', async (_what, sql) => {
    using folder = new TestFolder();
    const ledger = await folder.open();
    await record(ledger, [testDraft(1)]);
    await turn();
    const outside = readFileSync(folder.outside);
    await record(ledger, [testDraft(2)]);
    await record(ledger, [testDraft(3)]);
    await ledger.close();
    writeFileSync(folder.outside, outside);
    const db = new DatabaseSync(folder.ledger);
    for (const { name } of db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`).all()) {
      db.exec(`DROP TRIGGER ${String(name)}`);
    }
    expect(Number(db.prepare(sql).run().changes)).toBe(1);
    db.close();
    expect((await folder.tryOpen()).ok).toBe(false);
  });
});

describe('a disk that is full', () => {
  it('is a clear error, and recording continues when there is room', () => {
    using folder = new TestFolder();
    const script = join(import.meta.dirname, 'sqlite-full.ts');
    // Limits the size of a file, in blocks of 1,024 bytes, and ignores the signal of the limit.
    const { stdout, stderr, status } = spawnSync(
      'bash',
      ['-c', `trap '' XFSZ; ulimit -S -f 96; exec "$0" "$@"`, process.execPath, script, folder.ledger],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const report: unknown = JSON.parse(stdout);
    expect(report).toMatchObject({
      problem: { code: 'ledger/disk-full', message: expect.stringContaining('no space left to write') },
      after: 'recorded',
      verified: true,
    });
  }, 60_000);
});

interface Files {
  readonly db: Buffer;
  readonly wal: Buffer;
  readonly outside: Buffer;
}

function keep(folder: TestFolder): Files {
  return {
    db: readFileSync(folder.ledger),
    wal: readFileSync(`${folder.ledger}-wal`),
    outside: readFileSync(folder.outside),
  };
}

/** Creates the files as on the disk of a machine that lost power. */
function put({ db, wal, outside }: Files): TestFolder {
  const folder = new TestFolder();
  writeFileSync(folder.ledger, db);
  writeFileSync(`${folder.ledger}-wal`, wal);
  writeFileSync(folder.outside, outside);
  if (existsSync(`${folder.ledger}-shm`)) rmSync(`${folder.ledger}-shm`);
  return folder;
}
