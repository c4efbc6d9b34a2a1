import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { isAlive } from './processes.ts';
import { startPostgres } from './server.ts';

it('starts, survives SIGKILL with what was committed, and leaves nothing behind', async () => {
  const server = await startPostgres({ fsync: true });
  const url = await server.createDatabase();
  await run(url, 'CREATE TABLE kept AS SELECT 7 AS value');
  await server.kill();
  await expect(run(url, 'SELECT 1')).rejects.toThrow('connect');
  await server.restart();
  expect(await run(url, 'SELECT value, current_setting($$fsync$$) AS fsync FROM kept')).toEqual([
    { value: 7, fsync: 'on' },
  ]);
  const pids = (await run(url, 'SELECT pid FROM pg_stat_activity')).map((row) => Number(row['pid']));
  expect(pids.length).toBeGreaterThan(3);
  await server.stop();
  expect(pids.filter(isAlive)).toEqual([]);
  expect(existsSync(server.socketFolder)).toBe(false);
});

it('ends when the process that started it is killed', async () => {
  const program = `
    import { startPostgres } from '${join(import.meta.dirname, 'server.ts')}';
    const server = await startPostgres();
    process.stdout.write(server.socketFolder + '\\n');
    setInterval(() => {}, 1000);`;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const folder = String(await once(owner.stdout, 'data')).trim();
  const url = `postgres://postgres@${encodeURIComponent(folder)}/postgres`;
  const pids = (await run(url, 'SELECT pid FROM pg_stat_activity')).map((row) => Number(row['pid']));
  owner.kill('SIGKILL');
  const deadline = performance.now() + 10_000;
  while ((existsSync(folder) || pids.some(isAlive)) && performance.now() < deadline) await delay(10);
  expect(existsSync(folder)).toBe(false);
  expect(pids.filter(isAlive)).toEqual([]);
});

async function run(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
