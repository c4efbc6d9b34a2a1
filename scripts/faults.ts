import { spawnSync } from 'node:child_process';

/**
 * `npm run faults`: the long run. A writer is killed 1,000 times and a PostgreSQL server 50 times, and every byte of a ledger is
 * changed, one after the other. It takes a quarter of an hour; `npm test` does a little of each.
 */
const runs: readonly (readonly [name: string, command: string, args: readonly string[]])[] = [
  ['SQLite: the writer killed 1,000 times', 'node', ['test/faults/sqlite-kill.ts', '--rounds', '1000']],
  ['PostgreSQL: the server killed 50 times', 'node', ['test/faults/postgres-kill.ts', '--rounds', '50']],
  ['tampering with every byte', 'vitest', ['run', 'src/ledger/sqlite/tampering.int.test.ts']],
];

let failed = 0;
for (const [name, command, args] of runs) {
  console.log(`\n${name}`);
  const { status } = spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, BATON_FAULTS: 'long' } });
  if (status !== 0) failed += 1;
}
console.log(failed === 0 ? '\nnothing was lost, nothing was missed' : `\n${failed} of ${runs.length} failed`);
process.exitCode = failed === 0 ? 0 : 1;
