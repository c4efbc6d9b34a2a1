import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GENESIS } from './format/chain.ts';
import { LEDGER_LIMITS } from './format/limits.ts';
import { leafHash } from './format/merkle.ts';
import type { Commit, Head, Store, StoredEntry, Tile } from './store.ts';
import { nodeSha256 } from './writer/keys.ts';

/** The location of a store. Opened twice it shows the same ledger, as two processes would see it. */
export interface StorePlace {
  open(): Promise<Store>;
  /** Removes everything that `open` created, files and servers included. */
  remove(): Promise<void>;
}

/** The conformance suite that every kind of store passes. */
export function describeStore(name: string, makePlace: () => Promise<StorePlace>): void {
  describe(`the ${name} store`, () => {
    let place: StorePlace;
    let store: Store;

    beforeEach(async () => {
      place = await makePlace();
      store = await place.open();
    });

    afterEach(async () => {
      await store.close();
      await place.remove();
    });

    it('starts with nothing', async () => {
      expect(plain(await store.head())).toEqual(plain(GENESIS));
      expect(await all(store.entries({ from: 1 }))).toEqual([]);
      expect(await store.findCheckpoint()).toBeUndefined();
      expect(await all(store.blobs())).toEqual([]);
      expect(await store.snapshotNames()).toEqual([]);
      expect(await store.inspect()).toEqual([]);
    });

    it('keeps a commit as it was, in order', async () => {
      const first = commitAfter(GENESIS, 3);
      const answer = await store.append(first);
      expect(plain(answer)).toEqual(plain({ ok: true, head: headOf(first) }));
      const second = commitAfter(headOf(first), 2);
      await store.append(second);
      expect(plain(await store.head())).toEqual(plain(headOf(second)));
      expect(plain(await all(store.entries({ from: 1 })))).toEqual(plain([...storedOf(first), ...storedOf(second)]));
    });

    it('refuses a commit for another head, returns its own head, and stores nothing', async () => {
      const first = commitAfter(GENESIS, 2);
      await store.append(first);
      const refusal = plain({ ok: false, conflict: headOf(first) });
      const late = commitAfter(GENESIS, 1, 'late');
      expect(plain(await store.append(late))).toEqual(refusal);
      const forked = commitAfter({ size: 2, hash: hashOf('another history') }, 1, 'forked');
      expect(plain(await store.append(forked))).toEqual(refusal);
      const ahead = commitAfter({ size: 7, hash: hashOf('the future') }, 1, 'ahead');
      expect(plain(await store.append(ahead))).toEqual(refusal);
      expect(plain(await all(store.entries({ from: 1 })))).toEqual(plain(storedOf(first)));
    });

    it('accepts exactly one of many commits for the same head', async () => {
      const rivals = Array.from({ length: 10 }, (_, i) => commitAfter(GENESIS, 1, `rival ${i}`));
      const answers = await Promise.all(rivals.map((commit) => store.append(commit)));
      expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
      expect(await all(store.entries({ from: 1 }))).toHaveLength(1);
    });

    it('reads ranges, both ends included', async () => {
      await store.append(commitAfter(GENESIS, 20));
      expect((await all(store.entries({ from: 5, to: 8 }))).map(({ seq }) => seq)).toEqual([5, 6, 7, 8]);
      expect((await all(store.entries({ from: 19 }))).map(({ seq }) => seq)).toEqual([19, 20]);
      expect((await all(store.entries({ from: -5, to: 2 }))).map(({ seq }) => seq)).toEqual([1, 2]);
      expect(await all(store.entries({ from: 21 }))).toEqual([]);
      const hashes = await all(store.hashes({ from: 2, to: 3 }));
      const entries = await all(store.entries({ from: 2, to: 3 }));
      expect(hashes.map(hex)).toEqual(entries.map(({ hash }) => hex(hash)));
    });

    it('reads what follows a head that it contains', async () => {
      const first = commitAfter(GENESIS, 3);
      const second = commitAfter(headOf(first), 2);
      expect(await store.newer(GENESIS)).toEqual({ entries: [], isAll: true });
      await store.append(first);
      await store.append(second);
      const stored = [...storedOf(first), ...storedOf(second)];
      expect(plain(await store.newer(GENESIS))).toEqual(plain({ entries: stored, isAll: true }));
      expect(plain(await store.newer(headOf(first)))).toEqual(plain({ entries: storedOf(second), isAll: true }));
      expect(await store.newer(headOf(second))).toEqual({ entries: [], isAll: true });
      expect(await store.newer({ size: 3, hash: hashOf('another history') })).toBeUndefined();
      expect(await store.newer({ size: 6, hash: hashOf('the future') })).toBeUndefined();
    });

    it('reads what follows a head in batches, and reports whether more follow', async () => {
      const commit = commitAfter(GENESIS, LEDGER_LIMITS.entriesPerBatch + 1);
      await store.append(commit);
      const news = await store.newer(GENESIS);
      expect(news?.isAll).toBe(false);
      const [last] = news?.entries.slice(-1) ?? [];
      expect(last?.seq).toBeLessThanOrEqual(commit.entries.length);
      const rest = await store.newer({ size: last?.seq ?? 0, hash: last?.hash ?? hashOf('nothing') });
      expect(rest?.isAll).toBe(true);
      expect(plain([...(news?.entries ?? []), ...(rest?.entries ?? [])])).toEqual(plain(storedOf(commit)));
    });

    it('copies several commits at once, with the note of each', async () => {
      const first = commitAfter(GENESIS, 20);
      const second = commitAfter(headOf(first), 2);
      const third = commitAfter(headOf(second), 1);
      const stored = [first, second, third].flatMap(storedOf);
      const [head, ...rest] = stored;
      if (!head) throw new Error('there are entries');
      const tiles: Tile[] = [{ level: 8, index: 0, hash: hashOf('8/0') }];
      const copy: Commit = { after: GENESIS, entries: [head, ...rest], tiles, checkpoint: third.checkpoint };
      expect(plain(await store.append(copy))).toEqual(plain({ ok: true, head: headOf(third) }));
      expect(plain(await store.append(copy))).toEqual(plain({ ok: false, conflict: headOf(third) }));
      expect(plain(await all(store.entries({ from: 1 })))).toEqual(plain(stored));
      expect((await store.tiles(8, { from: 0 })).map(hex)).toEqual([hexOf('8/0')]);
      expect(await store.findCheckpoint(22)).toEqual(second.checkpoint);
    });

    it('reads in batches', async () => {
      await store.append(commitAfter(GENESIS, 1_500));
      let batches = 0;
      for await (const batch of store.entries({ from: 1 })) {
        batches += 1;
        expect(batch.length).toBeLessThanOrEqual(1_000);
      }
      expect(batches).toBeGreaterThan(1);
      expect(await all(store.hashes({ from: 1 }))).toHaveLength(1_500);
    });

    it('lets a reader stop early', async () => {
      await store.append(commitAfter(GENESIS, 1_500));
      for await (const [first] of store.entries({ from: 1 })) {
        expect(first?.seq).toBe(1);
        break;
      }
      expect((await store.append(commitAfter(await store.head(), 1))).ok).toBe(true);
    });

    it('keeps tiles by level and index', async () => {
      const tiles: Tile[] = [
        { level: 8, index: 0, hash: hashOf('8/0') },
        { level: 8, index: 1, hash: hashOf('8/1') },
        { level: 16, index: 0, hash: hashOf('16/0') },
      ];
      await store.append({ ...commitAfter(GENESIS, 1), tiles });
      const later = commitAfter(await store.head(), 1);
      await store.append({ ...later, tiles: [{ level: 8, index: 2, hash: hashOf('8/2') }] });
      expect((await store.tiles(8, { from: 0 })).map(hex)).toEqual(['8/0', '8/1', '8/2'].map(hexOf));
      expect((await store.tiles(8, { from: 1, to: 1 })).map(hex)).toEqual(['8/1'].map(hexOf));
      expect((await store.tiles(16, { from: 0, to: 255 })).map(hex)).toEqual(['16/0'].map(hexOf));
      expect(await store.tiles(24, { from: 0 })).toEqual([]);
    });

    it('finds the newest checkpoint, and the newest one up to a size', async () => {
      const first = commitAfter(GENESIS, 3);
      const second = commitAfter(headOf(first), 2);
      await store.append(first);
      await store.append(second);
      expect(await store.findCheckpoint()).toEqual(second.checkpoint);
      expect(await store.findCheckpoint(5)).toEqual(second.checkpoint);
      expect(await store.findCheckpoint(4)).toEqual(first.checkpoint);
      expect(await store.findCheckpoint(2)).toBeUndefined();
    });

    it('keeps a blob under its hash, once', async () => {
      const bytes = new Uint8Array(300_000).map((_, i) => i % 251);
      const hash = nodeSha256(bytes);
      await store.putBlob(hash, bytes);
      await store.putBlob(hash, bytes);
      expect(hex((await store.findBlob(hash)) ?? new Uint8Array())).toBe(hex(bytes));
      expect(await store.findBlob(hashOf('unknown'))).toBeUndefined();
      const blobs = await all(store.blobs());
      expect(blobs.map((blob) => hex(blob.hash))).toEqual([hex(hash)]);
      const empty = nodeSha256(new Uint8Array(0));
      await store.putBlob(empty, new Uint8Array(0));
      expect(await store.findBlob(empty)).toHaveLength(0);
    });

    it('keeps the newest snapshot of a name', async () => {
      await store.saveSnapshot('tasks', { size: 1, hash: hashOf('1'), bytes: encode('old') });
      await store.saveSnapshot('tasks', { size: 2, hash: hashOf('2'), bytes: encode('new') });
      await store.saveSnapshot('claims', { size: 1, hash: hashOf('1'), bytes: encode('other') });
      const snapshot = await store.findSnapshot('tasks');
      expect(snapshot?.size).toBe(2);
      expect(hex(snapshot?.bytes ?? new Uint8Array())).toBe(hex(encode('new')));
      expect(await store.snapshotNames()).toEqual(['claims', 'tasks']);
      expect(await store.findSnapshot('unknown')).toBeUndefined();
      await store.dropSnapshot('tasks');
      await store.dropSnapshot('unknown');
      expect(await store.findSnapshot('tasks')).toBeUndefined();
      expect(await store.snapshotNames()).toEqual(['claims']);
    });

    it('reports the head to watchers after a commit, until they stop', async () => {
      let latest = GENESIS;
      const stop = store.watch((head) => {
        latest = head;
      });
      const first = commitAfter(GENESIS, 1);
      await store.append(first);
      await waitUntil(() => latest.size === 1);
      stop();
      await store.append(commitAfter(headOf(first), 1));
      expect(latest.size).toBe(1);
    });

    it('returns bytes that no other code changes', async () => {
      const commit = commitAfter(GENESIS, 2);
      await store.append(commit);
      const before = plain(await all(store.entries({ from: 1 })));
      await store.append(commitAfter(headOf(commit), 50));
      expect(plain(await all(store.entries({ from: 1, to: 2 })))).toEqual(before);
    });
  });
}

/** Further cases for stores that outlive the process: a second opening sees what the first one wrote. */
export function describeDurableStore(name: string, makePlace: () => Promise<StorePlace>): void {
  describe(`the ${name} store, opened again`, () => {
    it('still has everything after reopening', async () => {
      const place = await makePlace();
      const writer = await place.open();
      const commit = commitAfter(GENESIS, 300);
      await writer.append({ ...commit, tiles: [{ level: 8, index: 0, hash: hashOf('8/0') }] });
      await writer.putBlob(hashOf('content'), encode('content'));
      await writer.saveSnapshot('tasks', { size: 1, hash: hashOf('1'), bytes: encode('state') });
      await writer.close();
      const reader = await place.open();
      expect(plain(await reader.head())).toEqual(plain(headOf(commit)));
      expect(plain(await all(reader.entries({ from: 1 })))).toEqual(plain(storedOf(commit)));
      expect((await reader.tiles(8, { from: 0 })).map(hex)).toEqual([hexOf('8/0')]);
      expect(await reader.findCheckpoint()).toEqual(commit.checkpoint);
      expect(hex((await reader.findBlob(hashOf('content'))) ?? new Uint8Array())).toBe(hex(encode('content')));
      expect((await reader.findSnapshot('tasks'))?.size).toBe(1);
      expect(await reader.inspect()).toEqual([]);
      await reader.close();
      await place.remove();
    });
  });
}

/** A commit that a store accepts. Stores check numbers, links and hashes; the rest of these entries has no meaning. */
export function commitAfter(after: Head, count: number, text = 'entry'): Commit {
  let prev = after.hash;
  const entries = Array.from({ length: count }, (_, i) => {
    const entry = makeEntry(after.size + 1 + i, prev, text);
    prev = entry.hash;
    return entry;
  });
  const [first, ...rest] = entries;
  if (!first) throw new Error('a commit has at least one entry');
  const size = after.size + count;
  return { after, entries: [first, ...rest], tiles: [], checkpoint: { size, note: `${text} ${size}\n` } };
}

export function headOf(commit: Commit): Head {
  const last = commit.entries.at(-1);
  return last ? { size: last.seq, hash: last.hash } : commit.after;
}

/** The entries that a store returns for a commit: the last one has the checkpoint. */
function storedOf({ entries, checkpoint: { size, note } }: Commit): StoredEntry[] {
  return entries.map((entry) => (entry.seq === size ? { ...entry, note } : entry));
}

export async function all<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const batch of batches) items.push(...batch);
  return items;
}

/** Waits for a condition until a deadline, so that tests need no sleeps. */
export async function waitUntil(condition: () => boolean, timeoutMs = 10_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('the condition did not come true in time');
    await new Promise((resolve) => {
      setTimeout(resolve, 1);
    });
  }
}

function makeEntry(seq: number, prev: Uint8Array, text: string): StoredEntry {
  const envelope = { prev: hex(prev), project: 'p', seq, type: 'Test', v: 1 };
  const bytes = encode(JSON.stringify({ data: `${text} ${seq} é\u0000`, ...envelope }));
  return { seq, hash: leafHash(nodeSha256, bytes), bytes };
}

/** Bytes as hex, because some stores return Buffers and others plain arrays. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return hex(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, plain(child)]));
}

function hashOf(text: string): Uint8Array {
  return nodeSha256(encode(text));
}

function hexOf(text: string): string {
  return hex(hashOf(text));
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
