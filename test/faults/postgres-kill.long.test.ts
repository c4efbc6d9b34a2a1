import { expect, it } from 'vitest';
import { GENESIS } from '../../src/ledger/format/chain.ts';
import { requireStore } from '../postgres/open-store.ts';
import { headOf, makeCommit } from '../postgres/make-commit.ts';
import { startPostgres } from '../postgres/server.ts';
import { runKillRounds } from './postgres-kill.ts';
import { findFaults, startWriters } from './postgres-writers.ts';

it('loses nothing that was acknowledged to 4 writers when the server is killed 5 times', async () => {
  const report = await runKillRounds(5);
  expect(report.faults).toEqual([]);
  expect(report.acknowledged).toBeGreaterThanOrEqual(60);
  // Every entry was acknowledged to its writer, so none was written unnoticed.
  expect(report.entries).toBe(report.acknowledged);
}, 120_000);

it('keeps one chain under 8 writers, by compare-and-swap', async () => {
  const server = await startPostgres();
  try {
    const url = await server.createDatabase();
    const writers = startWriters(url, 'demo', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], 25);
    await writers.done();
    const store = await requireStore({ url, project: 'demo' });
    expect(await findFaults(store, 'demo', writers.acknowledged)).toEqual([]);
    expect((await store.head()).size).toBe(200);
    await store.close();
  } finally {
    await server.stop();
  }
}, 120_000);

it('notices what is lost, doubled or acknowledged wrongly', async () => {
  const server = await startPostgres();
  try {
    const store = await requireStore({ url: await server.createDatabase(), project: 'demo' });
    const commit = makeCommit('demo', GENESIS, { writer: 'a', n: 1 }, { writer: 'a', n: 1 });
    await store.append(commit);
    const hash = Buffer.from(headOf(commit).hash).toString('hex');
    expect(await findFaults(store, 'demo', [{ writer: 'a', n: 1, seq: 2, hash }])).toEqual(['["a",1] is there twice']);
    expect((await findFaults(store, 'demo', [{ writer: 'b', n: 7, seq: 3, hash }])).at(-1)).toContain('is lost');
    await store.close();
  } finally {
    await server.stop();
  }
});
