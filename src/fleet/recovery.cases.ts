import { Client } from 'pg';
import { toHex } from '../ledger/format/bytes.ts';
import { copyCommits } from '../ledger/replica/copy.ts';
import { MemoryStore } from '../ledger/memory-store.ts';
import { findHash, type Head, type Store } from '../ledger/store.ts';
import type { BeatAnswer } from '../protocol/fleet.ts';
import { nodeSha256 } from '../ledger/writer/keys.ts';
import { openTestLedger, record, testDraft, testSigner } from '../ledger/writer/ledger.cases.ts';
import { makeBeat } from './beat.cases.ts';
import { makeFleetDatabase } from './database.ts';

/** A signed chain of `size` entries. With another `fork.text`, the entries from `fork.from` on differ. */
export async function makeHistory(size: number, fork = { from: size + 1, text: 0 }): Promise<Store> {
  const store = new MemoryStore();
  const ledger = await openTestLedger({ store, signer: testSigner() });
  for (let n = 2; n <= size; n += 1) await record(ledger, [testDraft(n < fork.from ? n : n + fork.text)]);
  return store;
}

/** Copies the first entries. */
export async function copyPrefix(from: Store, to: Store, size: number): Promise<Store> {
  const hash = await findHash(from, size);
  if (hash === undefined) throw new Error(`there is no entry ${size}`);
  const copied = await copyCommits(from, to, { size, hash }, { sha256: nodeSha256 });
  if (!copied.ok) throw new Error(copied.problem.message);
  return to;
}

export interface TestHost {
  readonly store: Store;
  /** The project's number in the database. */
  readonly project: number;
  beat(): Promise<BeatAnswer>;
  close(): Promise<void>;
}

export async function openHost(
  url: string,
  project: string,
  host: { readonly host: string; readonly replica: Store; readonly admitted: readonly string[] },
): Promise<TestHost> {
  const database = makeFleetDatabase({ url, patienceMs: 6_000 });
  const opened = await database.openProject(project, { ...host, admitted: () => host.admitted });
  if (!opened.ok) throw new Error(opened.problem.message);
  const { store, project: number, fleet } = opened;
  const { size, hash } = await host.replica.head();
  const beat = makeBeat(host.host, { size, hash: toHex(hash), mayCare: false });
  const close = async (): Promise<void> => {
    await store.close();
    await database.close();
  };
  return { store, project: number, beat: () => fleet.beat(beat), close };
}

/** Makes the database look like a promoted standby or a restored backup: a valid but older chain. */
export async function rollBack(url: string, project: string, size: number): Promise<void> {
  await asOwner(url, async (client) => {
    const where = `project = (SELECT id FROM baton.project WHERE name = '${project}')`;
    await client.query(`
      ALTER TABLE baton.entry DISABLE TRIGGER ALL;
      DELETE FROM baton.entry WHERE seq > ${size} AND ${where};
      ALTER TABLE baton.entry ENABLE ALWAYS TRIGGER append_only`);
  });
}

export async function readChain(url: string, project: string): Promise<Head> {
  return asOwner(url, async (client) => {
    const { rows } = await client.query<{ seq: string; hash: Buffer }>(
      `SELECT e.seq, e.hash FROM baton.entry e JOIN baton.project p ON p.id = e.project
       WHERE p.name = '${project}' ORDER BY e.seq DESC LIMIT 1`,
    );
    return { size: Number(rows[0]?.seq ?? 0), hash: rows[0]?.hash ?? Buffer.alloc(32) };
  });
}

/** Drops the database and creates an empty one with the same name. */
export async function recreate(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await asOwner(url.replace(/[^/]+$/, 'postgres'), async (client) => {
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${name}`);
  });
}

async function asOwner<T>(url: string, action: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await action(client);
  } finally {
    await client.end();
  }
}
