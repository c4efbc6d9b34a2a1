import { spawnSync } from 'node:child_process';

/**
 * `npm run faults [NAME …]`: the long run; NAME is `fleet`, or part of a name below. A writer is killed 1,000 times, a PostgreSQL server 50 times and a daemon after every entry, queues are
 * drained, agents misbehave, clocks are changed, workflows meet all faults at once, and every byte of a ledger is changed in turn.
 * It takes half an hour; `npm test` runs a small part of each. `npm run faults fleet -- ROW …` runs single faults of a fleet.
 */
const runs: readonly (readonly [name: string, command: string, args: readonly string[]])[] = [
  ['SQLite: the writer killed 1,000 times', 'node', ['test/faults/sqlite-kill.ts', '--rounds', '1000']],
  ['PostgreSQL: the server killed 50 times', 'node', ['test/faults/postgres-kill.ts', '--rounds', '50']],
  ['the daemon killed 20 times in 10,000 commands', 'node', ['test/faults/daemon-kill.ts', '--rounds', '20']],
  ['2,000 tasks drained by 8 processes', 'vitest', ['run', 'test/e2e/drain.long.test.ts']],
  ['clocks, with libfaketime', 'vitest', ['run', 'test/e2e/clocks.int.test.ts']],
  ['the daemon killed after every entry of a pipeline', 'node', ['test/faults/agents-kill.ts', '--every']],
  ['agents without a daemon for a minute', 'vitest', ['run', 'test/e2e/on-stop-away.int.test.ts']],
  ['hostile agents, a gigabyte each', 'vitest', ['run', 'test/e2e/hostile-agents.int.test.ts']],
  ['200 agents at once', 'node', ['test/faults/agents-crowd.ts', '--agents', '200']],
  ['an agent that prints a gigabyte', 'vitest', ['run', 'src/supervisor/process/output.int.test.ts']],
  ['20 workflows at once', 'vitest', ['run', 'test/e2e/workflow-crowd.long.test.ts']],
  ['a workflow whose daemon is killed 20 times', 'vitest', ['run', 'test/e2e/workflow-kill.long.test.ts']],
  ['200 workflows in a storm of stops, kills, locks and full disks', 'node', ['test/faults/storm.ts']],
  [
    'fleet: hosts, servers and clocks fail',
    'node',
    ['--disable-warning=ExperimentalWarning', 'test/faults/fleet/run.ts'],
  ],
  ['tampering with every byte', 'vitest', ['run', 'src/ledger/sqlite/tampering.int.test.ts']],
];

const [wanted, ...rows] = process.argv.slice(2);
const chosen = wanted === undefined ? runs : runs.filter(([name]) => name.includes(wanted));
if (chosen.length === 0) {
  console.error(`no such run: ${wanted}. There are:\n${runs.map(([name]) => `  ${name}`).join('\n')}`);
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
