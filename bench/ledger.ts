import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GENESIS, linkDrafts } from '../src/ledger/format/chain.ts';
import { signCheckpoint } from '../src/ledger/format/checkpoint.ts';
import { type Draft, prepareDraft } from '../src/ledger/format/draft.ts';
import { openSqliteStore, WAL_PAGES } from '../src/ledger/sqlite/open.ts';
import type { SqliteStore } from '../src/ledger/sqlite/sqlite-store.ts';
import { verifyLedger } from '../src/ledger/verify/verify-ledger.ts';
import { nodeSha256, nodeVerifier, signerOf } from '../src/ledger/writer/keys.ts';
import { OutsideCopyFile } from '../src/ledger/writer/ledger-files.ts';
import type { Ledger } from '../src/ledger/writer/ledger.ts';
import { openLedger } from '../src/ledger/writer/open.ts';
import { atLeast, atMost, type Benchmark, type Measure, median } from './measure.ts';

/** The number of entries in the long ledger; `BATON_BENCH_ENTRIES` reduces it for a quick run. */
const ENTRIES = Number(process.env.BATON_BENCH_ENTRIES ?? 1_000_000);
const { privateKey } = generateKeyPairSync('ed25519');
const signer = signerOf(privateKey);

/** The ledger on SQLite. Each figure is compared with the bare limit, in turns in the same run. */
export const ledger: Benchmark = {
  name: 'ledger',
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
    try {
      const appends = [
        await append(join(folder, 'one'), 1, 2_000, 0.8),
        await append(join(folder, 'many'), 100, 2_000, 0.6),
      ];
      const small = join(folder, 'small');
      const large = join(folder, 'large');
      await fill(small, 100);
      await fill(large, ENTRIES);
      return [...appends, ...(await verifying(large)), await opening(small, large)];
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

/**
 * Compares durable appends by `callers` callers with a bare insert of the same bytes (entries, hashes, and one note per
 * commit): same pragmas, one SHA-256 per entry, one signature, but no chain, tree or outside copy. Both take turns
 * commit by commit, and in who comes first, because the first finds its data in the processor's cache. The input of
 * both is prepared in advance: drafts here, bytes there. The first commits, for which the WAL grows, do not count: they
 * cost both about twice as much, and a ledger lives longer than that.
 */
async function append(path: string, callers: number, commits: number, goal: number): Promise<Measure> {
  const bare = new BareTable(`${path}.bare.db`);
  const opened = await open(path);
  const [ours, theirs]: [number[], number[]] = [[], []];
  const first = Math.ceil(WAL_PAGES / Math.max(1, (callers * ENTRY_BYTES) / PAGE_BYTES));
  for (let i = 0; i < first + commits; i += 1) {
    const drafts = Array.from({ length: callers }, (_, j) => makeDraft(i * callers + j + 1));
    const bytes = drafts.map((draft) => bytesOf(draft, i * callers));
    const calls = drafts.map((draft) => [draft]);
    const insertBare = async (): Promise<number> => theirs.push(await timeUs(async () => bare.insert(bytes)));
    if (i % 2 === 0) await insertBare();
    ours.push(await timeUs(() => Promise.all(calls.map((call) => opened.append(call)))));
    if (i % 2 === 1) await insertBare();
  }
  await opened.close();
  bare.close();
  return atLeast(goal, {
    name: callers === 1 ? 'durable append, one caller' : `durable append, ${callers} callers together`,
    value: (1e6 * callers) / median(ours.slice(first)),
    unit: 'entries/s',
    against: `bare insert + SHA-256 + signature, ${callers} a commit`,
    limit: (1e6 * callers) / median(theirs.slice(first)),
  });
}

/** The sizes of a SQLite page, and of an entry with its hash. */
const PAGE_BYTES = 4096;
const ENTRY_BYTES = 640;

/** Compares verifying everything with reading the same rows and hashing their bytes; also measures the memory. */
async function verifying(path: string): Promise<Measure[]> {
  const store = openStore(path, 'read');
  const rounds = [1, 2, 3];
  const [ours, bare, memory]: [number[], number[], number[]] = [[], [], []];
  for (const _round of rounds) {
    bare.push(await timeUs(() => readAndHash(store)));
    const samples: number[] = [];
    ours.push(
      await timeUs(async () => {
        const options = {
          project: 'demo',
          verifier: nodeVerifier,
          onProgress: () => samples.push(process.memoryUsage.rss()),
        };
        const verified = await verifyLedger(store, options);
        if (!verified.ok) throw new Error(verified.findings[0].problem.message);
      }),
    );
    const quarter = Math.floor(samples.length / 4);
    memory.push(Math.max(...samples.slice(-quarter)) / Math.max(...samples.slice(quarter, 2 * quarter)));
  }
  await store.close();
  return [
    atMost(3, {
      name: `verify ${ENTRIES} entries`,
      value: median(ours) / 1e6,
      unit: 's',
      against: 'reading and SHA-256 of the same bytes',
      limit: median(bare) / 1e6,
    }),
    atMost(1.1, {
      name: 'memory in the last quarter of verifying',
      value: median(memory),
      unit: '×',
      against: 'in the second quarter',
      limit: 1,
    }),
  ];
}

async function opening(small: string, large: string): Promise<Measure> {
  const [a, b]: [number[], number[]] = [[], []];
  for (let i = 0; i < 30; i += 1) {
    a.push(await timeUs(async () => (await open(small)).close()));
    b.push(await timeUs(async () => (await open(large)).close()));
  }
  return atMost(2, {
    name: `open a ledger of ${ENTRIES} entries`,
    value: median(b) / 1e3,
    unit: 'ms',
    against: 'open one of 100',
    limit: median(a) / 1e3,
  });
}

async function readAndHash(store: SqliteStore): Promise<void> {
  for await (const batch of store.entries({ from: 1 })) {
    for (const { bytes } of batch) nodeSha256(bytes);
  }
}

async function fill(path: string, entries: number): Promise<void> {
  const opened = await open(path);
  // Starts at 1, because the entry of the key exists already.
  for (let done = 1; done < entries;) {
    const count = Math.min(1_000, entries - done);
    // 100 entries per commit, neither the best nor the worst case for checkpoints.
    const calls = Array.from({ length: Math.ceil(count / 100) }, (_, i) =>
      opened.append(
        Array.from({ length: Math.min(100, count - i * 100) }, (_unused, j) => makeDraft(done + i * 100 + j)),
      ),
    );
    await Promise.all(calls);
    done += count;
  }
  await opened.close();
}

async function open(path: string): Promise<Ledger> {
  const store = openStore(path, 'write');
  const outside = new OutsideCopyFile(`${path}.checkpoint`);
  const opened = await openLedger({
    store,
    outside,
    signer,
    project: 'demo',
    verifier: nodeVerifier,
    clock: () => new Date(),
  });
  if (!opened.ok) throw new Error(opened.problem.message);
  return opened.ledger;
}

function openStore(path: string, mode: 'read' | 'write'): SqliteStore {
  const opened = openSqliteStore(`${path}.db`, { mode });
  if (!opened.ok) throw new Error(opened.problem.message);
  return opened.store;
}

/** The bytes of the entry that a draft becomes. */
function bytesOf(draft: Draft, size: number): Uint8Array {
  const prepared = prepareDraft(draft, { position: 0, size });
  if (!prepared.ok) throw new Error(prepared.problems[0].message);
  const [linked] = linkDrafts(nodeSha256, 'demo', new Date().toISOString(), { ...GENESIS, size }, [prepared.value]);
  if (!linked) throw new Error('one draft is one entry');
  return linked.stored.bytes;
}

/** An entry of about 600 bytes, like that of a session's end. `number` starts at 1, like the numbers within tasks. */
function makeDraft(number: number): Draft {
  return {
    actor: 'session:s-0190abcd',
    type: 'AgentSessionCompleted',
    cause: null,
    tasks: { [`T${number % 1000}`]: Math.ceil(number / 1000) },
    data: {
      event_id: `0190-${number}`,
      event_type: 'agent_session_completed',
      session_id: 's-0190abcd',
      task_id: `T${number % 1000}`,
      epoch: 3,
      phase_completed: 'IMPLEMENTATION',
      exit_reason: 'completed',
      next_phase: 'CI_PENDING',
      notes:
        'Did the work that was asked, wrote the tests, and they all pass; see the record for what was tried before.',
      files: ['src/ledger/writer/ledger.ts', 'src/ledger/writer/ledger.test.ts'],
    },
  };
}

/** As long as the note of each commit. */
const NOTE = signCheckpoint(nodeSha256, 'demo', { size: 100_000, root: GENESIS.hash }, 99_999, signer);

/** The limit: a bare insert of the same bytes, without chain and tree. */
class BareTable {
  readonly #db: DatabaseSync;
  readonly #insert: (rows: readonly Uint8Array[]) => void;
  #seq = 0;

  constructor(path: string) {
    this.#db = new DatabaseSync(path);
    this.#db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${WAL_PAGES}`);
    this.#db.exec(
      'CREATE TABLE bare (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL, note TEXT, bytes BLOB NOT NULL) STRICT',
    );
    const row = this.#db.prepare('INSERT INTO bare VALUES (?, ?, ?, ?)');
    const [begin, commit] = [this.#db.prepare('BEGIN IMMEDIATE'), this.#db.prepare('COMMIT')];
    const text = Buffer.alloc(NOTE.indexOf('\n\n'));
    this.#insert = (rows) => {
      begin.run();
      const last = this.#seq + rows.length;
      for (const bytes of rows) {
        this.#seq += 1;
        row.run(this.#seq, nodeSha256(bytes), this.#seq === last ? NOTE : null, bytes);
      }
      signer.sign(text);
      commit.run();
    };
  }

  insert(rows: readonly Uint8Array[]): void {
    this.#insert(rows);
  }

  close(): void {
    this.#db.close();
  }
}

async function timeUs(act: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await act();
  return (performance.now() - before) * 1_000;
}
