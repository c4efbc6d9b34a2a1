import { spawnSync } from 'node:child_process';
import { FAULT_RUNS } from '../test/faults/runs.ts';

/**
 * `npm run faults [NAME …]`: the long run; NAME is `fleet`, or part of a name below. Kills a writer 1,000 times, a
 * PostgreSQL server 50 times and a daemon after every entry, drains queues, runs misbehaving agents, changes clocks,
 * runs workflows with all faults at once, and changes every byte of a ledger in turn. It takes half an hour; `npm test`
 * runs a small part of each. `npm run faults fleet -- ROW …` runs single faults of a fleet.
 */
const [wanted, ...rows] = process.argv.slice(2);
const chosen = wanted === undefined ? FAULT_RUNS : FAULT_RUNS.filter(([name]) => name.includes(wanted));
if (chosen.length === 0) {
  console.error(`no such run: ${wanted}. There are:\n${FAULT_RUNS.map(([name]) => `  ${name}`).join('\n')}`);
  process.exit(2);
}

let failed = 0;
for (const [name, command, args] of chosen) {
  console.log(`\n${name}`);
  const { status } = spawnSync(command, [...args, ...rows], {
    stdio: 'inherit',
    env: { ...process.env, BATON_FAULTS: 'long' },
  });
  if (status !== 0) failed += 1;
}
console.log(failed === 0 ? '\nnothing was lost, nothing was missed' : `\n${failed} of ${chosen.length} failed`);
process.exitCode = failed === 0 ? 0 : 1;
