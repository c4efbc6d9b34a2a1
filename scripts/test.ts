import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `npm test`: the static checks, every rule, and each rule's wiring once. `npm run test:all` adds the long lane: kills, crowds, every variant, all
 * attacks and the agents' own programs. Other arguments go to vitest (`npm test -- exit-signal`), which then runs the matching files of every
 * lane.
 */
const args = process.argv.slice(2);
const isAll = args[0] === '--all';
const folder = mkdtempSync(join(tmpdir(), 'baton-test-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const env = { ...process.env, BATON_TEST_COUNTS: join(folder, 'counts') };
const running = new Set<ChildProcess>();

if (isAll || args.length === 0) {
  // Tests wait for other processes now and then: the static checks have the processor meanwhile.
  await Promise.all([check(), run('vitest', ['run', ...(isAll ? [] : ['--project', 'pure', '--project', 'int'])])]);
} else await run('vitest', ['run', ...args]);
if (isAll) for (const lane of ['test:attacks', 'test:clients']) await run('npm', ['run', '--silent', lane]);

/** What it prints comes at its end, so that it does not mix with what the tests print. */
async function check(): Promise<void> {
  const child = start('npm', ['run', '--silent', 'check'], 'pipe');
  const [out, err] = [child.stdout, child.stderr].map((stream) => stream?.setEncoding('utf8').toArray() ?? []);
  const printed = [await out, await err].flat().join('');
  process.stdout.write(`\n${printed}`);
  await end(child);
}

async function run(command: string, commandArgs: string[]): Promise<void> {
  await end(start(command, commandArgs, 'inherit'));
}

function start(command: string, commandArgs: string[], output: 'inherit' | 'pipe'): ChildProcess {
  const child = spawn(command, commandArgs, { stdio: ['inherit', output, output], env });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Whatever fails ends the others. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  if (child.exitCode === 0) return;
  for (const other of running) other.kill('SIGTERM');
  await Promise.all([...running].map(async (other) => once(other, 'exit')));
  process.exit(child.exitCode ?? 1);
}
