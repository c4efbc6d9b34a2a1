import { generateKeyPairSync } from 'node:crypto';
import { Client } from 'pg';
import { GENESIS, linkDrafts } from '../src/ledger/format/chain.ts';
import { signCheckpoint } from '../src/ledger/format/checkpoint.ts';
import { type PreparedDraft, prepareDraft } from '../src/ledger/format/draft.ts';
import { Frontier } from '../src/ledger/format/merkle.ts';
import { makePostgresDatabase, type PostgresDatabase } from '../src/ledger/postgres/postgres-store.ts';
import type { Commit, Head, Store } from '../src/ledger/store.ts';
import { nodeSha256, signerOf } from '../src/ledger/writer/keys.ts';
import { startPostgres } from '../test/postgres/server.ts';
import { atLeast, type Benchmark, type Measure } from './measure.ts';

/**
 * Compares appends to PostgreSQL with bare inserts of the same bytes: once with what a chain needs (canonical bytes,
 * hash, link, compare-and-swap, wake-ups), and once with everything that a ledger does (also tree and signature). All
 * are synced to disk. Rounds take turns, so that other load on the machine affects all of them.
 */
const WRITERS = 8;
const GROUP = 100;
const ROUNDS = 60;
/** Rounds that do not count: they fill caches, and let V8 compile and the server plan. */
const FIRST_ROUNDS = 12;

interface Writer {
  /** Writes one commit and returns its number of entries. */
  write(): Promise<number>;
  close(): Promise<void>;
}

const KINDS = ['bare', 'linked', 'signed', 'single', 'grouped', 'shared'] as const;
type Rates = Record<(typeof KINDS)[number], number>;

const signer = signerOf(generateKeyPairSync('ed25519').privateKey);
const BARE = Buffer.from(makeCommit('own-0', GENESIS, new Frontier(nodeSha256), 1, true).entries[0].bytes);
const NOTE = Buffer.alloc(100, 'x');
/** As long as a signed note. */
const UNSIGNED = 'x'.repeat(220);
const ALL_ROUNDS_MS = 6000;

export const ledgerPostgres: Benchmark = {
  name: 'ledger-postgres',
  async run() {
    const server = await startPostgres({ fsync: true });
    try {
      return await measureAll(await server.createDatabase(), ALL_ROUNDS_MS);
    } finally {
      await server.stop();
    }
  },
};

async function measureAll(url: string, roundMs: number): Promise<Measure[]> {
  const names = Array.from({ length: WRITERS }, (_, i) => `own-${i}`);
  // Compares one daemon with eight projects to eight daemons with one project each.
  const daemon = makePostgresDatabase({ url });
  const daemons = names.map(() => makePostgresDatabase({ url }));
  const kinds = {
    bare: await Promise.all(names.map(() => openBareWriter(url, false))),
    signed: await Promise.all(names.map(() => openBareWriter(url, true))),
    linked: await Promise.all(names.map((name) => openWriter(daemon, `${name}-linked`, 1, false))),
    single: await Promise.all(names.map((name) => openWriter(daemon, name, 1))),
    grouped: await Promise.all(names.map((name) => openWriter(daemon, `${name}-grouped`, GROUP))),
    shared: await Promise.all(daemons.map((each) => openWriter(each, 'shared', 1))),
  };
  const rates: Rates = { bare: 0, linked: 0, signed: 0, single: 0, grouped: 0, shared: 0 };
  for (let round = 0; round < FIRST_ROUNDS + ROUNDS; round += 1) {
    for (const kind of rotated(KINDS, round)) {
      const rate = await measureRound(kinds[kind], roundMs / ROUNDS);
      if (round >= FIRST_ROUNDS) rates[kind] += rate / ROUNDS;
    }
  }
  await Promise.all(Object.values(kinds).flatMap((writers) => writers.map((writer) => writer.close())));
  await Promise.all([daemon, ...daemons].map((each) => each.close()));
  return toMeasures(rates);
}

function toMeasures(rate: Rates): Measure[] {
  const unit = 'entries/s';
  const bare = `bare inserts by ${WRITERS} writers`;
  return [
    atLeast(0.5, {
      name: `${WRITERS} projects, 1 entry a commit, chain only`,
      value: rate.linked,
      unit,
      against: bare,
      limit: rate.bare,
    }),
    atLeast(0.5, {
      name: `${WRITERS} projects, 1 entry a commit, with tree and signature`,
      value: rate.single,
      unit,
      against: bare,
      limit: rate.bare,
    }),
    atLeast(0.5, {
      name: `${WRITERS} projects, 1 entry a commit, with tree and signature`,
      value: rate.single,
      unit,
      against: `${bare}, each with one SHA-256 and one signature`,
      limit: rate.signed,
    }),
    atLeast(10, {
      name: `${WRITERS} projects, ${GROUP} entries a commit`,
      value: rate.grouped,
      unit,
      against: '1 entry a commit',
      limit: rate.single,
    }),
    atLeast(0, {
      name: `${WRITERS} writers on one chain`,
      value: rate.shared,
      unit,
      against: `${WRITERS} chains`,
      limit: rate.single,
    }),
  ];
}

/** Rotates the order, so that no variant always follows the same one. */
function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

async function measureRound(writers: readonly Writer[], roundMs: number): Promise<number> {
  const start = performance.now();
  const counts = await Promise.all(
    writers.map(async (writer) => {
      let count = 0;
      while (performance.now() - start < roundMs) count += await writer.write();
      return count;
    }),
  );
  return (counts.reduce((sum, count) => sum + count, 0) * 1000) / (performance.now() - start);
}

async function openBareWriter(url: string, isSigned: boolean): Promise<Writer> {
  const client = new Client({ connectionString: url });
  // If another call fails, the server ends first; that call's error is reported.
  client.on('error', () => undefined);
  await client.connect();
  await client.query('SET synchronous_commit = on');
  await client.query('SELECT pg_advisory_lock(1)');
  await client.query(
    'CREATE TABLE IF NOT EXISTS bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, bytes bytea)',
  );
  await client.query('SELECT pg_advisory_unlock(1)');
  return {
    async write() {
      const bytes = isSigned ? makeSigned() : BARE;
      await client.query({ name: 'bare', text: 'INSERT INTO bare (bytes) VALUES ($1)', values: [bytes] });
      return 1;
    },
    close: () => client.end(),
  };
}

/** The bytes of an entry, with the hash and the signature that a commit of one entry needs. */
function makeSigned(): Uint8Array {
  nodeSha256(BARE);
  signer.sign(NOTE);
  return BARE;
}

async function openWriter(database: PostgresDatabase, project: string, size: number, isSigned = true): Promise<Writer> {
  const opened = await database.openProject(project);
  if (!opened.ok) throw new Error(opened.problem.message);
  const { store } = opened;
  let head = await store.head();
  let frontier = new Frontier(nodeSha256);
  await follow(store, frontier, head);
  return {
    async write() {
      for (;;) {
        const tree = frontier.copy();
        const appended = await store.append(makeCommit(project, head, tree, size, isSigned));
        if ('problem' in appended) throw new Error(appended.problem.message);
        if (!appended.ok) {
          await follow(store, frontier, appended.conflict);
          head = appended.conflict;
          continue;
        }
        head = appended.head;
        frontier = tree;
        return size;
      }
    },
    close: () => store.close(),
  };
}

/** Reads what the loser of a race reads before it retries. */
async function follow(store: Store, frontier: Frontier, head: Head): Promise<void> {
  if (head.size === frontier.size) return;
  for await (const hashes of store.hashes({ from: frontier.size + 1, to: head.size })) {
    for (const hash of hashes) frontier.add(hash);
  }
}

function makeCommit(project: string, after: Head, tree: Frontier, size: number, isSigned: boolean): Commit {
  const drafts = Array.from({ length: size }, draft);
  const [first, ...rest] = linkDrafts(nodeSha256, project, new Date().toISOString(), after, drafts);
  if (first === undefined) throw new Error('A commit has at least one entry.');
  const entries = [first.stored, ...rest.map(({ stored }) => stored)] as const;
  if (!isSigned) return { after, entries, tiles: [], checkpoint: { size: after.size + size, note: UNSIGNED } };
  const tiles = entries.flatMap(({ hash }) => tree.add(hash));
  const note = signCheckpoint(nodeSha256, project, { size: tree.size, root: tree.root() }, after.size, signer);
  return { after, entries, tiles, checkpoint: { size: tree.size, note } };
}

/** An entry of about 600 bytes, like a task update with a short note. */
function draft(): PreparedDraft {
  const data = { task_id: 'T042', status: 'IMPLEMENTATION', progress: 40, notes: 'x'.repeat(320) };
  const draft = { actor: 'session:bench', type: 'TaskUpdated', tasks: { T042: 1 }, data };
  const prepared = prepareDraft(draft, { position: 0, size: 0 });
  if (!prepared.ok) throw new Error(prepared.problems[0].message);
  return prepared.value;
}
