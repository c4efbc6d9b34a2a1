import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `npm test`: the static checks, then every test, also those with the agents' own programs. Extra arguments go to vitest
 * (`npm test -- exit-signal`), and then only that is run, since somebody is working on one thing.
 */
const args = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'baton-test-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const env = { ...process.env, BATON_TEST_COUNTS: join(folder, 'counts') };
if (args.length === 0) run('npm', ['run', '--silent', 'check']);
run('vitest', ['run', ...args]);
if (args.length === 0) run('npm', ['run', '--silent', 'test:clients']);

function run(command: string, commandArgs: string[]): void {
  const { status, error } = spawnSync(command, commandArgs, { stdio: 'inherit', env });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
