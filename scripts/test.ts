import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `npm test`: the static checks, every rule, and each rule's wiring once. `npm run test:all` adds the long lane: kills, crowds, all attacks and
 * the agents' own programs. Other arguments go to vitest (`npm test -- exit-signal`), which then runs the matching files of every lane.
 */
const args = process.argv.slice(2);
const isAll = args[0] === '--all';
const folder = mkdtempSync(join(tmpdir(), 'baton-test-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const env = { ...process.env, BATON_TEST_COUNTS: join(folder, 'counts') };
if (isAll || args.length === 0) {
  run('npm', ['run', '--silent', 'check']);
  run('vitest', ['run', ...(isAll ? [] : ['--project', 'pure', '--project', 'int'])]);
} else run('vitest', ['run', ...args]);
if (isAll) for (const lane of ['test:attacks', 'test:clients']) run('npm', ['run', '--silent', lane]);

function run(command: string, commandArgs: string[]): void {
  const { status, error } = spawnSync(command, commandArgs, { stdio: 'inherit', env });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
