import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `npm test`: the static checks, every rule, and each rule's wiring once. `npm run test:all` adds the long lane: kills,
 * crowds, every variant, all attacks, the agents' own programs, and a second run on PostgreSQL of everything that a
 * store can affect. Other arguments are passed to vitest (`npm test -- exit-signal`), which then runs the matching
 * files of every lane. `BATON_TEST_STORE=postgres npm test` runs only the part on PostgreSQL, or with names (`… npm
 * test -- test/e2e`) those files.
 */
const args = process.argv.slice(2);
/** File names or other arguments for vitest: only the selected tests run, even with `--all`. */
const chosen = args[0] === '--all' ? args.slice(1) : args;
const isAll = args[0] === '--all' && chosen.length === 0;
/** Everything above the store: command loop, engine, effects, workflows, the command, its API. */
const ON_POSTGRES = [
  'src/daemon',
  'src/effects',
  'src/api',
  'src/cli',
  'test/e2e',
  'test/mcp',
  'test/github',
  'test/web',
];
const folder = mkdtempSync(join(tmpdir(), 'baton-test-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const env = {
  ...process.env,
  BATON_TEST_COUNTS: join(folder, 'counts'),
  ...(isAll ? { BATON_TEST_SAMPLES: 'all' } : {}),
};
const running = new Set<ChildProcess>();
/**
 * The checkers are Go programs. With less garbage collection and on one processor, they take half of the CPU time, and
 * the tests use the other processors.
 */
const THRIFTY = { GOGC: '400', GOMAXPROCS: '1' };

if (chosen.length === 0 && process.env['BATON_TEST_STORE'] === 'postgres') await runOnPostgres();
else if (chosen.length === 0) {
  // Tests often wait for other processes; the static checks use the processor meanwhile.
  await Promise.all([check(), run('vitest', ['run', ...(isAll ? [] : ['--project', 'pure', '--project', 'int'])])]);
} else await run('vitest', ['run', ...chosen]);
if (isAll) await runOnPostgres();
if (isAll) for (const lane of ['test:attacks', 'test:clients']) await run('npm', ['run', '--silent', lane]);

/** Runs the static checks. Their output is printed at the end, so that it does not mix with the tests' output. */
async function check(): Promise<void> {
  const child = start('npm', ['run', '--silent', 'check'], 'pipe', THRIFTY);
  const [out, err] = [child.stdout, child.stderr].map((stream) => stream?.setEncoding('utf8').toArray() ?? []);
  const printed = [await out, await err].flat().join('');
  process.stdout.write(`\n${printed}`);
  await end(child);
}

async function runOnPostgres(): Promise<void> {
  await run('vitest', ['run', '--project', 'int', '--project', 'long', ...ON_POSTGRES], {
    BATON_TEST_STORE: 'postgres',
  });
}

async function run(command: string, commandArgs: string[], more: Record<string, string> = {}): Promise<void> {
  await end(start(command, commandArgs, 'inherit', more));
}

function start(command: string, commandArgs: string[], output: 'inherit' | 'pipe', more = {}): ChildProcess {
  const child = spawn(command, commandArgs, { stdio: ['inherit', output, output], env: { ...env, ...more } });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Ends a child, because a failure ends all other checks. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  if (child.exitCode === 0) return;
  for (const other of running) other.kill('SIGTERM');
  await Promise.all([...running].map(async (other) => once(other, 'exit')));
  process.exit(child.exitCode ?? 1);
}
