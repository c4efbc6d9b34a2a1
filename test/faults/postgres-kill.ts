import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { requireStore } from '../postgres/open-store.ts';
import { startPostgres } from '../postgres/server.ts';
import { findFaults, startWriters } from './postgres-writers.ts';

export interface KillReport {
  readonly rounds: number;
  readonly acknowledged: number;
  readonly entries: number;
  readonly faults: readonly string[];
}

const LONGEST_MOMENT_MS = 60;

/** Four processes write to one chain while the server is repeatedly killed at random moments. */
export async function runKillRounds(rounds: number): Promise<KillReport> {
  const server = await startPostgres({ fsync: true });
  const url = await server.createDatabase();
  const writers = startWriters(url, 'demo', ['a', 'b', 'c', 'd']);
  try {
    for (let round = 0; round < rounds; round += 1) {
      await writers.waitFor(writers.acknowledged.length + 10);
      await delay(Math.random() * LONGEST_MOMENT_MS);
      await server.kill();
      await server.restart();
    }
    await writers.waitFor(writers.acknowledged.length + 10);
    await writers.stop();
    const store = await requireStore({ url, project: 'demo' });
    const { size } = await store.head();
    const faults = await findFaults(store, 'demo', writers.acknowledged);
    await store.close();
    return { rounds, acknowledged: writers.acknowledged.length, entries: size, faults };
  } finally {
    writers.kill();
    await server.stop();
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '50' } } });
  const report = await runKillRounds(Number(values.rounds));
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = report.faults.length === 0 ? 0 : 1;
}
