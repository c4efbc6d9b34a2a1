import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BATON } from '../package/where.ts';
import { findProcesses } from '../processes/find-processes.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the demo, interrupted', () => {
  it('leaves nothing running and keeps the folder with npm start', { timeout: 120_000 }, async () => {
    const { demo, place, readUntil } = startDemo(['scripts/demo.ts']);
    await readUntil('claimed by implementer');
    demo.kill('SIGINT');
    const said = await readUntil();
    expect(await exitOf(demo)).toBe(130);
    const folder = join(place, readdirSync(place).find((name) => name.startsWith('baton-demo-')) ?? '');
    expect(said).toContain(`Interrupted. Nothing runs any more; the files so far are in ${folder}`);
    expect(existsSync(join(folder, 'state/daemon.json'))).toBe(false);
    expect(findProcesses(join(folder, 'state'))).toEqual([]);
  });

  it('leaves nothing at all with baton demo', { timeout: 120_000 }, async () => {
    const { demo, place, readUntil } = startDemo([BATON, 'demo', '--slow']);
    await readUntil('claimed by implementer');
    demo.kill('SIGTERM');
    expect(await readUntil()).toContain('Interrupted. Nothing runs any more, and all files are removed');
    expect(await exitOf(demo)).toBe(130);
    expectNothingLeft(place);
  });
});

describe('baton demo --page', () => {
  it('opens the page first, keeps it up until Ctrl-C, and removes the folder then', { timeout: 120_000 }, async () => {
    const { demo, place, readUntil } = startDemo([BATON, 'demo', '--page']);
    const said = await readUntil('The page stays up until you press Ctrl-C.');
    const [address = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
    expect(said.indexOf(address)).toBeLessThan(said.indexOf('$ baton run issue'));
    expect((await fetch(address)).status).toBe(200);
    demo.kill('SIGINT');
    expect(await readUntil()).toContain('The daemon ends here, and the folder is removed.');
    expect(await exitOf(demo)).toBe(0);
    expectNothingLeft(place);
  });
});

/** `readUntil` returns the output so far when it has these words; without words, when the demo has closed it. */
function startDemo(args: readonly string[]) {
  const place = mkdtempSync(join(tmpdir(), 'baton-demo-test-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const env = { PATH: process.env['PATH'], HOME: place, TMPDIR: place };
  const demo = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void demo.kill('SIGKILL'));
  const output = demo.stdout[Symbol.asyncIterator]();
  let said = '';
  const readUntil = async (words?: string): Promise<string> => {
    while (words === undefined || !said.includes(words)) {
      const next = await output.next();
      if (next.done === true) break;
      said += String(next.value);
    }
    return said;
  };
  return { demo, place, readUntil };
}

async function exitOf(demo: ChildProcess): Promise<number | null> {
  if (demo.exitCode === null) await once(demo, 'exit');
  return demo.exitCode;
}

function expectNothingLeft(place: string): void {
  expect(readdirSync(place).filter((name) => name.startsWith('baton-'))).toEqual([]);
  expect(findProcesses(place)).toEqual([]);
}
