import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Scene, until } from '../daemon/running.cases.ts';
import { runCli, type StartedCli, startCli } from '../../test/run-cli.ts';
import { inLongLane } from '../../test/lanes.ts';

let scene: Scene;
let repository: string;
let daemonPid: number;
beforeEach(async () => {
  scene = new Scene();
  repository = scene.makeRepository();
  const { child } = await scene.spawnDaemon();
  daemonPid = child.pid ?? 0;
});
afterEach(async () => scene.end());

/** A running command, and its output so far. */
function type(...args: string[]): StartedCli {
  return startCli(args, '', { env: scene.env, cwd: repository });
}

/** Writes the runbook, and adopts it. */
async function writeRunbook(text: string): Promise<void> {
  writeFileSync(join(repository, 'baton.toml'), text);
  await runCli(['runbook', 'adopt'], '', { env: scene.env, cwd: repository });
}

async function baton(...args: string[]): Promise<void> {
  const { code, said } = type(...args);
  expect({ code: await code, err: said.err }).toEqual({ code: 0, err: '' });
}

const AWAY = /Waiting for the daemon \(process \d+\), which (has not answered yet|is stopped)\./g;

/** Freezes the daemon until the command has reported that it waits. */
async function freeze(said: { readonly err: string }): Promise<void> {
  process.kill(daemonPid, 'SIGSTOP');
  try {
    await until(() => said.err.includes('Waiting for the daemon'), 'the daemon is missed');
  } finally {
    process.kill(daemonPid, 'SIGCONT');
  }
}

describe('task claim --wait', () => {
  it('reports once what it waits for, and then claims it', { timeout: 90_000 }, async () => {
    await baton('task', 'add', 'D1', '--title', 'first');
    await baton('task', 'add', 'D2', '--title', 'second', '--after', 'D1');
    await baton('task', 'update', 'D1', '--status', 'blocked', '--notes', 'no disk');
    const { said, code } = type('task', 'claim', 'D2', '--as', 'ada', '--wait');
    await until(() => said.err !== '', 'it says what it waits for');
    expect(said.err).toBe('Waiting: D2 comes after D1 (blocked: no disk).\n');
    await baton('task', 'unblock', 'D1', '--reason', 'there is one');
    await baton('task', 'complete', 'D1', '--waive', 'done by hand');
    expect(await code).toBe(0);
    expect(said.out).toContain('Claimed D2');
    expect(said.err.match(/Waiting/g)).toHaveLength(1);
  });

  inLongLane(() => {
    it('names the daemon that it waits for if it stops answering', { timeout: 90_000 }, async () => {
      const { said, code } = type('task', 'claim', '--as', 'ada', '--wait');
      await freeze(said);
      await baton('task', 'add', 'A', '--title', 'work');
      expect(await code).toBe(0);
      expect(said.err.match(AWAY)).toHaveLength(1);
    });
  });
});

describe('run', () => {
  it('names the daemon that it waits for if it stops answering', { timeout: 90_000 }, async () => {
    const wait = "steps = [{ name = 'wait', run = 'while [ ! -e go ]; do sleep 0.05; done' }]";
    await writeRunbook(`[notify]\ndesktop = false\n[pipelines.slow]\n${wait}\n`);
    const { said, code } = type('run', 'slow');
    await until(() => said.out.includes('wait: started'), 'the step has started');
    await freeze(said);
    writeFileSync(join(repository, 'go'), '');
    expect(await code).toBe(0);
    expect(said.err.match(AWAY)).toHaveLength(1);
  });
});

it('down reports how many agents keep running, and up finds them again', { timeout: 90_000 }, async () => {
  const agent = '[notify]\ndesktop = false\n[agents.patient]\nrun = "while [ ! -e go ]; do sleep 0.05; done"\n';
  await writeRunbook(agent);
  const started = type('run', 'patient', '--detach', '--json');
  expect(await started.code).toBe(0);
  const { id } = JSON.parse(started.said.out) as { id: string };
  const shown = async (): Promise<string> => {
    const { code, said } = type('agent', 'show', id, '--json');
    expect(await code).toBe(0);
    return (JSON.parse(said.out) as { process: string }).process;
  };
  await until(async () => (await shown()) === 'running', 'the agent runs');
  const down = type('down');
  expect(await down.code).toBe(0);
  expect(down.said.out).toBe('Baton is down. 1 agent keeps running; the next baton up reconnects.\n');
  await scene.spawnDaemon();
  expect(await shown()).toBe('running');
  writeFileSync(join(repository, 'go'), '');
  await until(async () => (await shown()) === 'gone', 'the agent has gone');
  const again = type('down');
  expect(await again.code).toBe(0);
  expect(again.said.out).toBe('Baton is down.\n');
});

it(
  'pipeline wait does not mistake its own timeout for a daemon that does not answer',
  { timeout: 90_000 },
  async () => {
    const wait = "steps = [{ name = 'wait', run = 'sleep 4' }]";
    await writeRunbook(`[notify]\ndesktop = false\n[pipelines.slow]\n${wait}\n`);
    const started = type('run', 'slow', '--detach', '--json');
    expect(await started.code).toBe(0);
    const { said, code } = type('pipeline', 'wait', String(JSON.parse(started.said.out).id));
    expect(await code).toBe(0);
    expect(said.err).toBe('');
  },
);
