import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { OutsideCopyFile } from '../writer/ledger-files.ts';
import { testDraft, testOptions } from '../writer/ledger.cases.ts';
import { openLedger } from '../writer/open.ts';
import { scaleLockTimes } from './lock-wait.ts';
import { openSqliteStoreWhenUnlocked } from './open.ts';
import type { SqliteStore } from './sqlite-store.ts';
import { TestFolder } from './sqlite.cases.ts';

const WAIT_MS = 150;

type Take = (db: DatabaseSync) => void;

const writes: Take = (db) => db.exec('BEGIN IMMEDIATE');
const hasWritten: Take = (db) => db.exec("BEGIN; INSERT INTO snapshot VALUES ('x', 0, zeroblob(32), x'00')");
/** A lock that other processes cannot take while Baton has the file open. */
const wantsAll: Take = (db) => db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');

async function openStore(folder: TestFolder): Promise<SqliteStore> {
  const opened = await openSqliteStoreWhenUnlocked(folder.ledger, {
    mode: 'write',
    lockTimes: scaleLockTimes(WAIT_MS),
  });
  if (!opened.ok) throw new Error(opened.problem.message);
  return opened.store;
}

function lock(folder: TestFolder, take: Take): Disposable {
  const db = new DatabaseSync(folder.ledger);
  take(db);
  return { [Symbol.dispose]: () => db.close() };
}

/** The longest time for which the event loop was blocked during the work. */
async function longestStop(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  void work.finally(() => (isDone = true));
  let longest = 0;
  for (let last = performance.now(); !isDone;) {
    await turn();
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }
  return longest;
}

describe.each([
  ['a transaction that writes', writes],
  ['a transaction that has written', hasWritten],
] as const)('%s', (_what, take) => {
  it('makes every write wait off the event loop, and then fail with file, time and next step', async () => {
    using folder = new TestFolder();
    const store = await openStore(folder);
    const opened = await openLedger(testOptions({ store, outside: new OutsideCopyFile(folder.outside) }));
    if (!opened.ok) throw new Error(opened.problem.message);
    const { ledger } = opened;
    const { size } = ledger.head;
    {
      using _held = lock(folder, take);
      const snapshot = { size: 0, hash: new Uint8Array(32), bytes: new Uint8Array(1) };
      const writes = [
        ledger.append([testDraft(1)]),
        ledger.append([testDraft(2), testDraft(3)]),
        store.putBlob(new Uint8Array(32), new Uint8Array(9)).catch((error: unknown) => error),
        store.saveSnapshot('s', snapshot).catch((error: unknown) => error),
        store.dropSnapshot('s').catch((error: unknown) => error),
      ];
      const all = Promise.all(writes);
      // SQLite's own wait would block the event loop until the lock is free.
      expect(await longestStop(all)).toBeLessThan(WAIT_MS);
      for (const answer of await all) {
        expect(answer).toMatchObject({
          problem: {
            code: 'ledger/locked',
            message: expect.stringMatching(/ledger\.db has been locked by another process for \d+\.\d s/),
            hint: expect.stringContaining('fuser -v'),
          },
        });
      }
      expect(store.health()).toMatchObject({ writable: false, reason: expect.stringContaining('locked') });
      expect(await store.probe()).toMatchObject({ writable: false });
    }
    expect(await store.probe()).toEqual({ writable: true });
    expect(ledger.head.size).toBe(size);
    expect(await ledger.append([testDraft(4)])).toMatchObject({ ok: true });
    expect(store.health()).toEqual({ writable: true });
    await ledger.close();
  });

  it('delays a commit that waits, and loses nothing, if it ends in time', async () => {
    using folder = new TestFolder();
    const ledger = await folder.open();
    const held = lock(folder, take);
    const recorded = ledger.append([testDraft(1)]);
    await turn();
    held[Symbol.dispose]();
    expect(await recorded).toMatchObject({ ok: true, entries: [{ entry: { seq: 2 } }] });
    await ledger.close();
  });
});

it.each([
  ['locked', wantsAll],
  ['made by another process at the moment', writes],
] as const)('opening waits off the event loop for a file that is %s', async (what, take) => {
  using folder = new TestFolder();
  if (what === 'locked') await (await folder.open()).close();
  const held = lock(folder, take);
  const options = { mode: 'write', lockTimes: scaleLockTimes(WAIT_MS) } as const;
  const first = openSqliteStoreWhenUnlocked(folder.ledger, options);
  expect(await longestStop(first)).toBeLessThan(WAIT_MS);
  expect(await first).toMatchObject({
    ok: false,
    problem: { code: 'ledger/locked', message: expect.stringContaining(folder.ledger) },
  });
  const second = openSqliteStoreWhenUnlocked(folder.ledger, options);
  await turn();
  held[Symbol.dispose]();
  const opened = await second;
  expect(opened.ok).toBe(true);
  if (opened.ok) await opened.store.close();
});

it('answers quickly once the file is known to be locked, and waits again after a success', async () => {
  using folder = new TestFolder();
  const store = await openStore(folder);
  const write = async (): Promise<number> => {
    const before = performance.now();
    await store.dropSnapshot('none').catch(() => undefined);
    return performance.now() - before;
  };
  const held = lock(folder, writes);
  expect(await write()).toBeGreaterThanOrEqual(WAIT_MS - 1);
  // The fastest of three, because a busy machine may delay any of them.
  expect(Math.min(await write(), await write(), await write())).toBeLessThan(WAIT_MS);
  held[Symbol.dispose]();
  await write();
  using _again = lock(folder, writes);
  expect(await write()).toBeGreaterThanOrEqual(WAIT_MS - 1);
  await store.close();
});
