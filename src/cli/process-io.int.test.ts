import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { BATON } from '../../test/package/where.ts';
import { Terminal } from '../../test/processes/terminal.ts';
import { until } from '../../test/processes/until.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-io-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it('works in a folder that was deleted, and names it in the error', () => {
  const folder = newFolder();
  const gone = join(folder, 'gone');
  const run = (words: string): string => {
    const script = `mkdir ${gone} && cd ${gone} && rmdir ${gone} && "$0" "$1" ${words} 2>&1; echo "exit $?"`;
    return spawnSync('sh', ['-c', script, process.execPath, BATON], { encoding: 'utf8' }).stdout;
  };
  expect(run('help task')).toMatch(/^ {2}baton task add --help\n[^]*exit 0\n$/);
  expect(run('schema exit')).toMatch(/^\{[^]*exit 0\n$/);
  expect(run('ledger log')).toMatch(new RegExp(`^Error: .*${gone}.* \\[[a-z/-]+\\]\n[^]*exit 1\n$`));
});

it('says so if standard input is a folder', () => {
  const stdin = openSync(newFolder(), 'r');
  const { status, stderr } = spawnSync(process.execPath, [BATON, 'validate', 'exit', '-'], {
    stdio: [stdin, 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 1, stderr: 'Error: standard input is a folder [unexpected]\n' });
});

it('says so if the disk of its output is full, without a stack trace', () => {
  const full = openSync('/dev/full', 'w');
  for (const words of [['help'], ['schema', 'exit']]) {
    const { status, stderr } = spawnSync(process.execPath, [BATON, ...words], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 1, stderr: 'Error: the disk is full [unexpected]\n' });
  }
});

it('leaves Ctrl-C to the pager', async () => {
  const folder = newFolder();
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, PAGER: 'less' };
  await using terminal = new Terminal([process.execPath, BATON, 'help'], { cwd: folder, env });
  await terminal.shows('Usage: baton COMMAND');
  await terminal.shows(/:$/m);
  const before = terminal.written.length;
  terminal.type('\u0003');
  // The terminal forgets what was typed before the signal.
  await until('the pager asks again', () => terminal.written.length > before + 2);
  terminal.type('q');
  expect(await terminal.exit()).toBe(0);
});

it('takes a relative state folder from the working folder, and the daemon takes the same', () => {
  const folder = newFolder();
  const env = { PATH: process.env['PATH'], HOME: folder, BATON_STATE_DIR: 'state', BATON_RESTART: 'off' };
  const run = (...words: string[]) =>
    spawnSync(process.execPath, [BATON, ...words], { cwd: folder, env, encoding: 'utf8' });
  const up = run('up');
  onTestFinished(() => void run('down'));
  expect(up).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining(`in ${join(folder, 'state')}.`) });
});
