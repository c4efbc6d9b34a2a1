import { expect, it, onTestFinished } from 'vitest';
import { requireStore } from '../../../test/postgres/open-store.ts';
import { startPostgres } from '../../../test/postgres/server.ts';
import { toHex } from '../format/bytes.ts';
import { TestFolder } from '../sqlite/sqlite.cases.ts';
import type { Store } from '../store.ts';
import { verifyLedger } from '../verify/verify-ledger.ts';
import { nodeSha256, nodeVerifier } from '../writer/keys.ts';
import { NO_OUTSIDE_COPY } from '../writer/ledger-files.ts';
import { openTestLedger, record, testSigner } from '../writer/ledger.cases.ts';
import { copyLedger } from './copy.ts';
import { openReplica } from './open-replica.ts';
import { drafts } from './replica.cases.ts';
import { makeReplicatedStore } from './replicated-store.ts';

const MILLION = 1_000_000;
/** Longer limits than for a commit, because no caller waits for a copy. */
const PATIENT = { patienceMs: 30_000, silenceMs: 30_000 };

it('a million entries move from SQLite to PostgreSQL and back with one root, and a host restarts as fast as with a hundred', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const url = await server.createDatabase();
  using from = new TestFolder();
  using back = new TestFolder();
  const ledger = await from.open();
  for (let i = ledger.head.size; i < MILLION; i += 500) await record(ledger, drafts(Math.min(500, MILLION - i), i));
  const shared = await requireStore({ url, project: 'demo', ...PATIENT });
  onTestFinished(() => shared.close());
  const times: Record<string, number> = {};
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const startMs = performance.now();
    const value = await work();
    times[name] = Math.round(performance.now() - startMs);
    return value;
  };
  const there = await timed('to PostgreSQL', () => copyLedger(ledger.store, shared, { sha256: nodeSha256 }));
  await ledger.close();
  const local = back.openStore('write');
  const home = await timed('to SQLite', () => copyLedger(shared, local, { sha256: nodeSha256 }));
  const roots = [there, home].map((copied) => (copied.ok ? toHex(copied.root) : copied.problem.message));
  const verified = await timed('verify', () => rootOf(local));
  await local.close();
  expect(roots).toEqual([verified, verified]);

  // The moved project's file is the replica of the shared ledger; the first start reads it as a whole.
  await timed('first start', () => start(from, url));
  using few = new TestFolder();
  const fewUrl = await server.createDatabase();
  await start(few, fewUrl, 100);
  const [large, small] = [await fastest(() => start(from, url)), await fastest(() => start(few, fewUrl))];
  process.stdout.write(
    `${JSON.stringify({ ...times, 'restart with a million': large, 'restart with a hundred': small })}\n`,
  );
  expect(large).toBeLessThan(2 * small);
}, 1_200_000);

/** Does what a daemon does before its first decision: opens the replica and the shared store, and compares them. */
async function start(folder: TestFolder, url: string, entries = 0): Promise<void> {
  const place = { project: 'demo', ledger: folder.ledger, outside: folder.outside, key: '' };
  const replica = await openReplica(place, { verifier: nodeVerifier, signer: testSigner() });
  if (!replica.ok) throw new Error(replica.problem.message);
  expect(replica.setAside).toBeUndefined();
  const store = makeReplicatedStore(await requireStore({ url, project: 'demo', ...PATIENT }), replica.store);
  const ledger = await openTestLedger({ store, outside: NO_OUTSIDE_COPY });
  if (entries > 0) await record(ledger, drafts(entries));
  await ledger.close();
}

async function fastest(work: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 7; i += 1) {
    const startMs = performance.now();
    await work();
    times.push(performance.now() - startMs);
  }
  return Math.min(...times);
}

async function rootOf(store: Store): Promise<string> {
  const verified = await verifyLedger(store, { project: 'demo', verifier: nodeVerifier });
  return verified.ok ? toHex(verified.root) : verified.findings[0].problem.message;
}
