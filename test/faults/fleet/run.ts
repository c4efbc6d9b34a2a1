import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makePackage } from '../../package/make-package.ts';
import type { PostgresServer } from '../../postgres/server.ts';
import { startPostgres } from '../../postgres/server.ts';
import { findNamespaceObstacle } from '../../fleet/process-namespace.ts';
import { caretaker } from './caretaker.ts';
import { clocks } from './clocks.ts';
import { crowd } from './crowd.ts';
import { cutOff } from './cut-off.ts';
import { diverged } from './diverged.ts';
import { failoverAsynchronous, failoverSynchronous, restoredDump } from './failover.ts';
import { hostDies } from './host-dies.ts';
import { pooler } from './pooler.ts';
import { rolling } from './rolling.ts';
import type { Outcome, Row } from './row.ts';
import { serverAway } from './server-away.ts';

/** The faults that a fleet must survive, in the order of the specification. */
export const ROWS: readonly Row[] = [
  crowd,
  caretaker,
  cutOff,
  hostDies,
  clocks,
  serverAway,
  failoverSynchronous,
  failoverAsynchronous,
  restoredDump,
  diverged,
  pooler,
  rolling,
];

/** Runs one row, on a server that rows share unless they stop it. */
export async function runRow(row: Row, server: PostgresServer, isSmall: boolean): Promise<Outcome> {
  const database = async () => ({
    socketFolder: server.socketFolder,
    database: new URL(await server.createDatabase()).pathname.slice(1),
  });
  return row.run({ server: database, hosts: isSmall ? 2 : 4, isSmall });
}

/**
 * `npm run faults fleet [-- ROW …] [-- --small]`: prints one line per row. Hosts run a package of this source, built
 * once, as in tests.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { small: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const unknown = positionals.filter((key) => !ROWS.some((row) => row.key === key));
  if (unknown.length > 0) {
    say(`no such row: ${unknown.join(', ')}. There are: ${ROWS.map(({ key }) => key).join(', ')}`);
    process.exit(2);
  }
  const obstacle = values.small ? undefined : findNamespaceObstacle();
  const server = await startPostgres({ settings: { max_connections: '500' } });
  let failed = 0;
  for (const row of ROWS) {
    if (positionals.length > 0 && !positionals.includes(row.key)) continue;
    const missing = obstacle ?? row.findObstacle?.();
    if (missing === undefined) failed += (await runOne(row, server, values.small)) ? 0 : 1;
    else {
      failed += 1;
      say(`DID NOT RUN ${row.name}: ${missing}`);
    }
  }
  await server.stop();
  process.exitCode = failed === 0 ? 0 : 1;
}

async function runOne(row: Row, server: PostgresServer, isSmall: boolean): Promise<boolean> {
  const begun = performance.now();
  const { faults, figures } = await runRow(row, server, isSmall).catch((error: unknown) => ({
    faults: [String(error instanceof Error ? error.stack : error)],
    figures: '',
  }));
  const seconds = Math.round((performance.now() - begun) / 1000);
  say(`${faults.length === 0 ? 'ok  ' : 'FAIL'} ${row.name} (${seconds} s): ${figures}`);
  for (const fault of faults.slice(0, MAX_FAULTS)) say(`       ${fault}`);
  return faults.length === 0;
}

const MAX_FAULTS = 20;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

if (import.meta.main) {
  if (process.env['BATON_TEST_PACKAGE'] !== undefined) await main();
  else await runFromPackage();
}

async function runFromPackage(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-package-'));
  try {
    await makePackage(folder);
    const env = { ...process.env, BATON_TEST_PACKAGE: folder };
    const { status } = spawnSync(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      stdio: 'inherit',
      env,
    });
    process.exitCode = status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
