import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLongLane } from '../../../test/lanes.ts';
import { signCheckpoint } from '../format/checkpoint.ts';
import { type MemoryRows, MemoryStore } from '../memory-store.ts';
import { blobName, signSnapshot } from '../snapshots-and-blobs.ts';
import { all } from '../store.cases.ts';
import { type NotVerified, type Verified, verifyLedger } from '../verify/verify-ledger.ts';
import { nodeSha256, nodeVerifier } from '../writer/keys.ts';
import { record, testDraft, testSigner } from '../writer/ledger.cases.ts';
import type { SqliteStore } from './sqlite-store.ts';
import { TestFolder } from './sqlite.cases.ts';

const ENTRIES = 260;
const COMMIT = 65;
/** The distance between changed bytes; the offset differs from entry to entry. `npm run faults` changes every byte. */
const STRIDE = process.env.BATON_FAULTS === 'long' ? 1 : isLongLane ? 16 : 192;
/** The step between rows that are alike; the long lane takes every row. */
const EVERY = isLongLane ? 1 : 24;
const isTaken = (_: unknown, i: number, all: readonly unknown[]): boolean => (all.length - 1 - i) % EVERY === 0;
const options = { project: 'demo', verifier: nodeVerifier, allSignatures: true } as const;

const folder = new TestFolder();
let rows: MemoryRows;

/** 260 entries complete a tile; with only five commits every signature can be checked each time. */
beforeAll(async () => {
  const ledger = await folder.open();
  const blob = new TextEncoder().encode('the end of a long log');
  await ledger.store.putBlob(nodeSha256(blob), blob);
  for (let i = 0; i < ENTRIES - 1; i += COMMIT) {
    const count = Math.min(COMMIT, ENTRIES - 1 - i);
    const drafts = Array.from({ length: count }, (_, j) => testDraft(i + j));
    await record(
      ledger,
      i === 0 ? [{ ...testDraft(0), data: { log_blob: blobName(nodeSha256(blob)) } }, ...drafts.slice(1)] : drafts,
    );
  }
  await ledger.store.saveSnapshot(
    'tasks',
    signSnapshot(ledger.snapshotSigner, 'tasks', ledger.head, Buffer.from('{"tasks":[]}')),
  );
  rows = {
    entries: await all(ledger.store.entries({ from: 1 })),
    tiles: [{ level: 8, index: 0, hash: (await ledger.store.tiles(8, { from: 0 }))[0] ?? new Uint8Array(0) }],
  };
  await ledger.close();
});

afterAll(() => folder[Symbol.dispose]());

describe('verify', () => {
  it('finds nothing in an unchanged ledger', async () => {
    expect((await withFile(() => {})).ok).toBe(true);
    const { entries } = rows;
    expect((await verifyLedger(memoryOf({ ...rows, entries }), options)).ok).toBe(true);
  });

  it('finds every changed byte of every entry, and names the entry', async () => {
    const misses: string[] = [];
    for (const { seq, bytes, hash } of rows.entries) {
      for (const [column, target] of Object.entries({ bytes, hash })) {
        for (let at = seq % STRIDE; at < target.length; at += STRIDE) {
          const before = target[at] ?? 0;
          target[at] = before ^ (1 << (at % 8));
          const result = await verifyLedger(memoryOf(rows), options);
          target[at] = before;
          if (placeOf(result) !== seq) misses.push(`${column} of ${seq} at ${at}: ${describeResult(result)}`);
        }
      }
    }
    expect(misses).toEqual([]);
  }, 600_000);

  it('finds changed characters of every checkpoint, and names it', async () => {
    const misses: string[] = [];
    for (const { seq, note } of checkpointed()) {
      const bytes = Buffer.from(note);
      for (const [at, byte] of bytes.entries()) {
        if ((at + seq) % (isLongLane ? 1 : 4) !== 0) continue;
        const changed = Buffer.from(bytes);
        changed[at] = byte ^ (1 << (at % 7));
        const result = await verifyLedger(memoryOf(withNote(seq, changed.toString('utf8'))), options);
        if (placeOf(result) !== seq) misses.push(`${seq} at ${at}: ${describeResult(result)}`);
      }
    }
    expect(misses).toEqual([]);
  }, 60_000);

  it('finds every row of every column changed in the file itself', async () => {
    const misses: string[] = [];
    using tamper = new Tamper();
    for (const [table, key, columns] of TABLES) {
      for (const row of tamper.keysOf(table, key).filter(isTaken)) {
        for (const column of columns) {
          tamper.change(table, key, row, column);
          const result = await tamper.verify();
          tamper.restore();
          if (result.ok) misses.push(`${table}.${column} of ${String(row)}`);
        }
      }
    }
    expect(misses).toEqual([]);
    expect((await tamper.verify()).ok).toBe(true);
  }, 120_000);

  it('finds every deleted row, and names the first missing entry', async () => {
    const misses: string[] = [];
    using tamper = new Tamper();
    for (const [table, key] of TABLES) {
      // A snapshot is derived data: deleting it is allowed.
      if (table === 'snapshot') continue;
      for (const row of tamper.keysOf(table, key).filter(isTaken)) {
        tamper.run(table, `DELETE FROM ${table} WHERE ${key} = ?`, row);
        const result = await tamper.verify();
        tamper.restore();
        // The checkpoint is lost with the last entry, which leaves the rest of its commit unsigned.
        const first = row === ENTRIES ? (checkpointed().at(-2)?.seq ?? 0) + 1 : row;
        if (result.ok || (table === 'entry' && placeOf(result) !== first)) misses.push(`${table} ${String(row)}`);
      }
    }
    expect(misses).toEqual([]);
  }, 120_000);

  it('finds swapped neighbours', async () => {
    const misses: number[] = [];
    for (let i = 0; i + 1 < rows.entries.length; i += 1) {
      const [a, b] = [rows.entries[i], rows.entries[i + 1]];
      if (!a || !b) continue;
      const entries = rows.entries.with(i, { ...b, seq: a.seq }).with(i + 1, { ...a, seq: b.seq });
      if (placeOf(await verifyLedger(memoryOf({ ...rows, entries }), options)) !== a.seq) misses.push(a.seq);
    }
    expect(misses).toEqual([]);
  });

  it('finds an end that was cut off', async () => {
    const outside = readFileSync(folder.outside, 'utf8');
    for (let size = 0; size < ENTRIES; size += 1) {
      const entries = rows.entries.slice(0, size);
      const tiles = size < 256 ? [] : rows.tiles;
      const isClean = size === 0 || entries.at(-1)?.note !== undefined;
      const cut = await verifyLedger(memoryOf({ entries, tiles }), { ...options, outside });
      expect(cut.ok).toBe(false);
      // A cut right behind a commit can only be noticed by comparing with a remembered length.
      expect((await verifyLedger(memoryOf({ entries, tiles }), options)).ok).toBe(isClean);
    }
  }, 60_000);

  it('finds every removed and every inserted checkpoint', async () => {
    for (const { seq, note } of checkpointed()) {
      expect((await verifyLedger(memoryOf(withNote(seq, undefined)), options)).ok).toBe(false);
      for (const other of [seq - 1, seq + 1].filter((each) => each >= 1 && each <= ENTRIES)) {
        expect(placeOf(await verifyLedger(memoryOf(withNote(other, note)), options))).toBe(other);
      }
    }
  });

  it('finds an added row in every table', async () => {
    const stranger = signCheckpoint(nodeSha256, 'demo', { size: 10, root: nodeSha256(Buffer.of(1)) }, 1, testSigner(9));
    const hash = nodeSha256(Buffer.of(1));
    const added: readonly (readonly [string, ...(string | number | Uint8Array)[]])[] = [
      ['INSERT INTO entry VALUES (?, ?, NULL, ?)', 0, hash, Buffer.of(1)],
      ['INSERT INTO entry VALUES (?, ?, NULL, ?)', -7, hash, Buffer.of(1)],
      ['INSERT INTO entry VALUES (?, ?, NULL, ?)', ENTRIES + 1, hash, Buffer.of(1)],
      ['INSERT INTO entry VALUES (?, ?, NULL, ?)', ENTRIES + 2, hash, Buffer.of(1)],
      ['INSERT INTO entry VALUES (?, ?, ?, ?)', 0, hash, stranger, Buffer.of(1)],
      ['INSERT INTO entry VALUES (?, ?, ?, ?)', ENTRIES + 1, hash, stranger, Buffer.of(1)],
      ['INSERT INTO tile VALUES (?, ?, ?)', 8, 1, hash],
      ['INSERT INTO tile VALUES (?, ?, ?)', 7, 0, hash],
      ['INSERT INTO tile VALUES (?, ?, ?)', 16, -1, hash],
      ['INSERT INTO blob VALUES (?, ?)', hash, Buffer.of(2)],
      ['INSERT INTO snapshot VALUES (?, ?, ?, ?)', 'other', 3, hash, Buffer.alloc(40)],
    ];
    using tamper = new Tamper();
    const misses: string[] = [];
    for (const [sql, ...values] of added) {
      tamper.run(sql.split(' ')[2] ?? '', sql, ...values);
      if ((await tamper.verify()).ok) misses.push(`${sql} ${String(values[0])}`);
      tamper.restore();
    }
    expect(misses).toEqual([]);
  });

  it('finds replaced signatures: of another key, of another checkpoint, of another ledger', async () => {
    for (const { seq: size, note } of checkpointed()) {
      const text = note.slice(0, note.indexOf('\n\n') + 2);
      const signatures = [
        ...checkpointed()
          .filter(({ seq }) => seq !== size)
          .map((other) => other.note),
        signCheckpoint(nodeSha256, 'demo', { size, root: nodeSha256(Buffer.of(1)) }, 0, testSigner()),
        signCheckpoint(nodeSha256, 'other', { size, root: nodeSha256(Buffer.of(1)) }, 0, testSigner()),
      ].map((other) => other.slice(other.indexOf('\n\n') + 2));
      for (const signature of signatures) {
        expect(placeOf(await verifyLedger(memoryOf(withNote(size, text + signature)), options))).toBe(size);
      }
    }
  });

  it('finds a schema without its triggers, and a file that is not marked', async () => {
    for (const sql of ['DROP TRIGGER entry_no_update', 'PRAGMA application_id = 7', 'CREATE TABLE other (x)']) {
      const result = await withFile((db) => db.exec(sql));
      expect(result.ok).toBe(false);
    }
  });

  it('finds damaged pages', async () => {
    let misses = 0;
    const size = statSync(folder.ledger).size;
    for (let at = 100; at < size; at += 1_021) {
      using copy = new TestFolder();
      const bytes = readFileSync(folder.ledger);
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      writeFileSync(copy.ledger, bytes);
      const result = await verifyFile(copy);
      // A byte in a page's free space belongs to no column and changes nothing.
      if (result.ok && !sameRows(copy)) misses += 1;
    }
    expect(misses).toBe(0);
  }, 120_000);
});

const TABLES: readonly (readonly [table: string, key: string, columns: readonly string[]])[] = [
  ['entry', 'seq', ['seq', 'hash', 'note', 'bytes']],
  ['tile', '"index"', ['level', '"index"', 'hash']],
  ['blob', 'rowid', ['hash', 'bytes']],
  ['snapshot', 'name', ['name', 'size', 'hash', 'bytes']],
];

/** Changes a copy of the file as an attacker with SQLite would: drops the triggers, and restores them afterwards. */
class Tamper implements Disposable {
  readonly #folder = new TestFolder();
  readonly #db: DatabaseSync;
  readonly #store: SqliteStore;

  constructor() {
    copyFileSync(folder.ledger, this.#folder.ledger);
    this.#db = new DatabaseSync(this.#folder.ledger);
    this.#db.exec('PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON');
    this.#db.exec("ATTACH DATABASE ':memory:' AS kept");
    for (const [table] of TABLES)
      this.#db.exec(
        `CREATE TABLE kept.${table} AS SELECT rowid AS kept_rowid, * FROM main.${table}`.replace(
          'rowid AS kept_rowid, ',
          '',
        ),
      );
    this.#store = this.#folder.openStore('read');
  }

  keysOf(table: string, key: string): (string | number)[] {
    return this.#db
      .prepare(`SELECT ${key} AS k FROM ${table}`)
      .all()
      .map(({ k }) => (typeof k === 'number' ? k : String(k)));
  }

  /** Changes one byte: the low bit of a number, or a byte in the middle of any other value. */
  change(table: string, key: string, row: string | number, column: string): void {
    const { value } = this.#db.prepare(`SELECT ${column} AS value FROM ${table} WHERE ${key} = ?`).get(row) ?? {};
    const changed =
      typeof value === 'number'
        ? value ^ 0x4000
        : typeof value === 'string'
          ? flip(Buffer.from(value)).toString('utf8')
          : value instanceof Uint8Array
            ? flip(value)
            : 'a note where none belongs';
    this.run(table, `UPDATE ${table} SET ${column} = ? WHERE ${key} = ?`, changed, row);
  }

  run(table: string, sql: string, ...values: (string | number | Uint8Array)[]): void {
    this.#withoutTriggers(table, () => this.#db.prepare(sql).run(...values));
  }

  restore(): void {
    for (const [table] of TABLES) {
      this.#withoutTriggers(table, () =>
        this.#db.exec(`DELETE FROM main.${table}; INSERT INTO main.${table} SELECT * FROM kept.${table}`),
      );
    }
  }

  verify(): Promise<Verified | NotVerified> {
    return verifyLedger(this.#store, options);
  }

  [Symbol.dispose](): void {
    void this.#store.close();
    this.#db.close();
    this.#folder[Symbol.dispose]();
  }

  #withoutTriggers(table: string, change: () => void): void {
    const triggers = this.#db
      .prepare(`SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name = ?`)
      .all(table);
    this.#db.exec('BEGIN');
    for (const { name } of triggers) this.#db.exec(`DROP TRIGGER ${String(name)}`);
    change();
    for (const { sql } of triggers) this.#db.exec(String(sql));
    this.#db.exec('COMMIT');
  }
}

/** The last entry of each commit. */
function checkpointed(): { seq: number; note: string }[] {
  return rows.entries.flatMap(({ seq, note }) => (note === undefined ? [] : [{ seq, note }]));
}

function withNote(seq: number, note: string | undefined): MemoryRows {
  return { ...rows, entries: rows.entries.map((entry) => (entry.seq === seq ? { ...entry, note } : entry)) };
}

function flip(bytes: Uint8Array): Buffer {
  const changed = Buffer.from(bytes);
  const middle = Math.floor(changed.length / 2);
  changed[middle] = (changed[middle] ?? 0) ^ 1;
  return changed;
}

async function withFile(change: (db: DatabaseSync) => void): Promise<Verified | NotVerified> {
  using copy = new TestFolder();
  copyFileSync(folder.ledger, copy.ledger);
  const db = new DatabaseSync(copy.ledger);
  change(db);
  db.close();
  return verifyFile(copy);
}

async function verifyFile(place: TestFolder): Promise<Verified | NotVerified> {
  let store: SqliteStore;
  try {
    store = place.openStore('read');
  } catch (error) {
    const problem = { code: '', message: String(error), path: '', line: null, column: null, hint: '' };
    return { ok: false, findings: [{ seq: null, problem }] };
  }
  const result = await verifyLedger(store, options);
  await store.close();
  return result;
}

function sameRows(place: TestFolder): boolean {
  const [a, b] = [folder.ledger, place.ledger].map((path) => {
    const db = new DatabaseSync(path, { readOnly: true });
    const content = TABLES.map(([table]) => db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all());
    db.close();
    return JSON.stringify(content);
  });
  return a === b;
}

function memoryOf(from: MemoryRows): MemoryStore {
  const store = new MemoryStore(from);
  const blob = new TextEncoder().encode('the end of a long log');
  void store.putBlob(nodeSha256(blob), blob);
  return store;
}

function placeOf(result: Verified | NotVerified): number | null | undefined {
  return result.ok ? undefined : result.findings[0].seq;
}

function describeResult(result: Verified | NotVerified): string {
  return result.ok ? 'missed' : `${String(result.findings[0].seq)} ${result.findings[0].problem.message}`;
}
