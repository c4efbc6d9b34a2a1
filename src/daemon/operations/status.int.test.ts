import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { holdLock } from '../../../test/processes/break-store.ts';
import { isPostgres } from '../../../test/stores/chosen.ts';
import { readProcStat } from '../../api/processes.ts';
import { stateFiles } from '../../api/state-folder.ts';
import type { Attention } from './attention.ts';
import { until } from '../running.cases.ts';
import { RunScene } from '../runs.cases.ts';

let world: RunScene;
beforeEach(() => {
  world = new RunScene();
});
afterEach(async () => world.end());

interface Status {
  readonly needs_you: readonly unknown[];
  readonly attention: readonly Attention[];
}

const status = async (): Promise<Status> => world.ask<Status>('status_get');

it("needs a person if a worker's agent failed its task", async () => {
  world.write('[agents.a]\nrun = "true"\non_dead = "fail"\n[workers.w]\ntasks = ["K*"]\nrun = { agent = "a" }');
  await world.start();
  await world.ask('task_create', { task_id: 'K1', title: 'k' });
  await until(async () => (await world.ask('task_get', { task_id: 'K1' })).status === 'blocked', 'K1 is blocked');
  const { needs_you, attention } = await status();
  expect(needs_you).toEqual([]);
  expect(attention).toMatchObject([{ kind: 'blocked', task_id: 'K1', title: 'Task is blocked: K1 k' }]);
  expect(attention[0]?.context).toContain('on_dead: fail');
});

it('needs a person if a task was reported as stuck', async () => {
  await world.start();
  await world.ask('task_create', { task_id: 'A', title: 'do it' });
  expect((await status()).attention).toEqual([]);
  await world.ask('task_update', { task_id: 'A', status: 'blocked', notes: 'no disk' });
  expect((await status()).attention).toMatchObject([{ task_id: 'A', context: 'no disk' }]);
});

it('shows the tasks that a task waits for, and its open decisions', async () => {
  await world.start();
  for (const [task_id, after] of [
    ['D0', []],
    ['D1', []],
    ['D2', ['D0', 'D1']],
  ] as const)
    await world.ask('task_create', { task_id, title: task_id, after });
  await world.ask('task_update', { task_id: 'D1', status: 'blocked', notes: 'no disk' });
  await world.ask('task_waive', { task_id: 'D0', reason: 'done by hand' });
  expect(await world.ask('task_get', { task_id: 'D2' })).toMatchObject({
    waits_for: [{ task_id: 'D1', status: 'blocked', blocked_because: 'no disk' }],
    decision_ids: [],
  });
});

it('names the decision that is open about a task', async () => {
  world.write('[agents.a]\nrun = "true"\n[workers.w]\ntasks = ["K*"]\nrun = { agent = "a" }');
  await world.start();
  await world.ask('task_create', { task_id: 'K1', title: 'k' });
  const asked = async () =>
    (await world.ask<{ needs_you: { id: string }[] }>('status_get')).needs_you.map(({ id }) => id);
  await until(async () => (await asked()).length === 1, 'a person is asked');
  expect(await world.ask('task_get', { task_id: 'K1' })).toMatchObject({ decision_ids: await asked() });
});

it('reports a runbook with errors while its workers use the last valid version, and logs it once', async () => {
  const good = '[agents.a]\nrun = "true"\n[workers.w]\ntasks = ["K*"]\nrun = { agent = "a" }';
  const logged = (): string[] =>
    readFileSync(stateFiles(world.stateDir).log, 'utf8')
      .split('\n')
      .filter((line) => /the runbook (?:is valid|has errors)/.test(line));
  world.write(good);
  await world.start();
  expect((await status()).attention).toEqual([]);
  expect(logged()).toEqual([]);
  world.write(good.replace('tasks', 'taks'));
  // The daemon checks without a request.
  await until(() => logged().length === 1, 'it is logged');
  expect(JSON.parse(logged()[0] ?? '')).toMatchObject({ level: 'error', file: 'baton.toml', line: 4 });
  expect((await status()).attention).toMatchObject([
    {
      kind: 'runbook',
      title: 'baton.toml has errors; the last valid version stays in force',
      context: expect.stringMatching(/^baton\.toml:4:1: .*taks/),
      next: 'baton runbook check',
    },
  ]);
  world.write(good);
  expect((await status()).attention).toEqual([]);
  expect(logged()).toHaveLength(2);
  expect(logged()[1]).toContain('the runbook is valid again');
  world.write('[agents.a');
  await world.restart();
  expect((await status()).attention[0]?.title).toBe('baton.toml has errors; no runbook is in force');
});

interface Verdict extends Status {
  readonly all_clear: boolean;
  readonly summary: string;
}

const verdict = async (): Promise<Verdict> => world.ask<Verdict>('status_get');

it('gives no all-clear while a task waits in a phase that no worker serves', async () => {
  await world.start();
  expect(await verdict()).toMatchObject({ all_clear: true, summary: 'Nothing needs you, nothing runs.' });
  await world.ask('task_create', { task_id: 'K1', title: 'k', phase: 'READY_FOR_MERGE' });
  expect(await verdict()).toMatchObject({
    all_clear: false,
    summary: '1 unserved task needs you, nothing runs.',
    attention: [{ kind: 'unserved', task_id: 'K1', next: 'baton task claim K1 --as NAME' }],
  });
});

it.skipIf(isPostgres)('gives no all-clear while another process holds the ledger', async () => {
  await world.start();
  expect((await verdict()).all_clear).toBe(true);
  const release = await holdLock(world);
  try {
    await until(async () => !(await verdict()).all_clear, 'the lock is noticed', 10_000);
    expect(await verdict()).toMatchObject({ summary: '1 unwritable store needs you, nothing runs.' });
  } finally {
    await release();
  }
  await until(async () => (await verdict()).all_clear, 'the lock is gone', 10_000);
});

it('gives no all-clear while no file can be written into the state folder, although the ledger can', async () => {
  await world.start();
  expect((await verdict()).all_clear).toBe(true);
  const probe = join(world.stateDir, `probe-${process.pid}`);
  mkdirSync(probe);
  await until(async () => !(await verdict()).all_clear, 'it is noticed', 10_000);
  expect(await verdict()).toMatchObject({
    summary: '1 unwritable store needs you, nothing runs.',
    attention: [{ title: expect.stringContaining('The state folder cannot be written since') }],
  });
  rmdirSync(probe);
  expect((await verdict()).all_clear).toBe(true);
});

it('gives no all-clear while a running agent has not reported within limits.silence', async () => {
  world.write('[limits]\nsilence = "400ms"\n[agents.a]\nrun = "while [ ! -e go ]; do sleep 0.05; done"');
  await world.start();
  const { pid } = await world.untilRunning(await world.run('a'));
  const supervisor = readProcStat(pid ?? 0)?.parent ?? 0;
  const { id } = (await world.ask<{ agents: { id: string }[] }>('agent_list')).agents[0] ?? { id: '' };
  await until(async () => (await verdict()).summary === 'Nothing needs you, 1 running.', 'it reports', 10_000);
  process.kill(supervisor, 'SIGSTOP');
  try {
    await until(async () => (await verdict()).attention[0]?.kind === 'silent', 'its silence is noticed', 10_000);
    expect(await verdict()).toMatchObject({
      summary: '1 silent agent needs you, 1 running.',
      attention: [{ title: expect.stringContaining('Agent a '), next: `baton agent show ${id}` }],
    });
  } finally {
    process.kill(supervisor, 'SIGCONT');
  }
  await until(async () => (await verdict()).all_clear, 'it reports again', 10_000);
});
