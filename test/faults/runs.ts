/** The parts of `npm run faults`: each name and its command. */
export const FAULT_RUNS: readonly (readonly [name: string, command: string, args: readonly string[]])[] = [
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
