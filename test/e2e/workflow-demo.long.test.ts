import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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

describe('a demo that does not get to its end', () => {
  it('leaves nothing if Ctrl-C comes while its repository is made', { timeout: 60_000 }, async () => {
    const { demo, place, readUntil } = startDemo([BATON, 'demo'], 'kill -INT $PPID; kill -INT $$');
    expect(await readUntil()).toContain('Interrupted. Nothing runs any more, and all files are removed');
    expect(await exitOf(demo)).toBe(130);
    expectNothingLeft(place);
  });

  it('ends the agent that waits for a person', { timeout: 120_000 }, async () => {
    const escalate = `baton emit agent:signal --agent "$BATON_AGENT_ID" '{"kind":"escalate","message":"help"}' > /dev/null; sleep 300`;
    const inWorktree = `case $PWD in */.worktrees/*) ${escalate};; esac`;
    const { demo, place, readUntil } = startDemo([BATON, 'demo'], inWorktree);
    expect(await readUntil('waits for a person')).toContain('Agent needs attention: implementer');
    await readUntil();
    expect(await exitOf(demo)).toBe(1);
    const folder = readdirSync(place).find((name) => name.startsWith('baton-demo-')) ?? '';
    expect(findProcesses(join(place, folder, 'state'))).toEqual([]);
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
function startDemo(args: readonly string[], beforeCommit = '') {
  const place = mkdtempSync(join(tmpdir(), 'baton-demo-test-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const { PATH = '' } = process.env;
  const bin = join(place, 'bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'git'),
    `#!/bin/sh\ncase " $* " in *" commit "*) ${beforeCommit};; esac\nPATH=${PATH} exec git "$@"\n`,
    { mode: 0o755 },
  );
  const env = { PATH: `${bin}:${PATH}`, HOME: place, TMPDIR: place };
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
