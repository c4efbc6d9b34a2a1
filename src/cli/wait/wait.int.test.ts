import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunWait, WaitedRun } from '../../api/operations/run-wait.ts';
import { until } from '../../daemon/running.cases.ts';
import { RunScene } from '../../daemon/runs.cases.ts';
import { startCli } from '../../../test/run-cli.ts';

const world = new RunScene();

const waitsFor = (file: string): string => `run = "while [ ! -e ${file} ]; do sleep 0.05; done"`;

beforeAll(async () => {
  world.write(`
    sandbox = "none"
    [pipelines]
    one = { steps = [{ name = "build", ${waitsFor('one')} }] }
    two = { steps = [{ name = "build", ${waitsFor('two')} }] }
    breaks = { steps = [{ name = "build", run = "exit 3" }] }
    asks = { steps = [{ name = "ask", run = { agent = "asker" } }] }
    [agents]
    asker = { run = "true", on_dead = "escalate" }
    patient = { ${waitsFor('patient')}, on_dead = "done" }`);
  await world.start();
  await world.ask('task_create', { task_id: 'T1', title: 'first' });
  await world.ask('task_create', { task_id: 'T2', title: 'second' });
});
afterAll(async () => world.end());

/** A running command, and its output so far. */
function type(...args: string[]) {
  const listeners = process.listenerCount('SIGINT');
  const started = startCli(args, '', {
    env: { ...world.scene.env, BATON_STATE_DIR: world.stateDir },
    cwd: world.repository,
  });
  return { ...started, listens: async () => until(() => process.listenerCount('SIGINT') > listeners, 'it waits') };
}

async function baton(...args: string[]) {
  const { said, code } = type(...args);
  return { code: await code, ...said };
}

async function complete(id: string): Promise<void> {
  expect(await baton('task', 'complete', id, '--waive', 'done by hand')).toMatchObject({ code: 0, err: '' });
}

const statesOf = (out: string): WaitedRun['state'][] =>
  (JSON.parse(out) as RunWait).waits.map(({ state }: WaitedRun) => state);

describe('baton wait', () => {
  it('ends when one, or each, of tasks, pipelines and agents is over', async () => {
    const [one, two, agent] = [await world.run('one'), await world.run('two'), await world.run('patient')];
    const any = type('wait', one, two, agent, 'T1', '--any', '--json');
    const all = type('wait', one.slice(0, 8), two, agent, 'T1', '--json');
    await complete('T1');
    expect(await any.code).toBe(0);
    expect(statesOf(any.said.out)).toEqual(['going', 'going', 'going', 'done']);
    expect(all.said.out).toBe('');
    for (const file of ['one', 'two', 'patient']) world.touch(file);
    expect(await all.code).toBe(0);
    expect(JSON.parse(all.said.out)).toEqual({
      settled: true,
      waits: [
        expect.objectContaining({ kind: 'pipeline', id: one, name: 'one', state: 'done' }),
        expect.objectContaining({ kind: 'pipeline', id: two, name: 'two', state: 'done' }),
        expect.objectContaining({ kind: 'agent', id: agent, name: 'patient', state: 'done' }),
        expect.objectContaining({ kind: 'task', id: 'T1', name: 'first', state: 'done' }),
      ],
    });
  });

  it('shows by its exit code what failed and what needs a person', async () => {
    const [failed, asks] = [await world.run('breaks'), await world.run('asks')];
    expect(await baton('pipeline', 'wait', failed)).toMatchObject({ code: 1, err: '' });
    const both = await baton('wait', failed, asks);
    expect(both).toMatchObject({ code: 3, err: '' });
    expect(both.out).toMatch(
      /^ID +KIND +STATE +AT +NEXT\n\w{8} +pipeline +failed .*\n\w{8} +pipeline +waits for a person +ask .*baton decision show \w{8}\n$/,
    );
    expect(await baton('wait', failed, asks, '--any')).toMatchObject({ code: 1 });
    expect(await baton('wait', asks, failed, '--any')).toMatchObject({ code: 3 });
    const lines = (await baton('pipeline', 'wait', asks, failed, '--json')).out.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).status)).toEqual(['waiting', 'failed']);
  });

  it('refuses what does not exist before it waits', async () => {
    const cases: [string[], object][] = [
      [
        ['wait', 'T2', 'T9'],
        { code: 1, err: expect.stringMatching(/no task, pipeline or agent T9 \[no-such-run\]\n.*Did you mean T1\?/) },
      ],
      [['task', 'wait', 'T2', 'T9'], { code: 1, err: expect.stringContaining('there is no task T9 [no-such-task]') }],
      [['agent', 'wait', 'zz'], { code: 1, err: expect.stringContaining('there is no agent zz [no-such-agent]') }],
      [['pipeline', 'wait', 'T2'], { code: 1, err: expect.stringContaining('It is a task: baton task show T2') }],
      [['wait'], { code: 2 }],
      [['wait', 'T2', '--any', '--all'], { code: 2 }],
      [['wait', 'T2', '--timeout', 'soon'], { code: 2 }],
    ];
    for (const [args, expected] of cases) expect(await baton(...args)).toMatchObject({ out: '', ...expected });
  });

  it('ends when the time is over', async () => {
    const ended = await baton('wait', 'T2', '--timeout', '1ms', '--json');
    expect(ended).toMatchObject({ code: 1, err: '' });
    expect(JSON.parse(ended.out)).toMatchObject({ settled: false, waits: [{ id: 'T2', state: 'going' }] });
  });

  it('ends with Ctrl-C, and the runs continue', async () => {
    const waiting = type('wait', 'T2');
    await waiting.listens();
    process.emit('SIGINT');
    expect(await waiting.code).toBe(130);
    expect(waiting.said).toEqual({ out: '', err: '' });
  });

  it('survives a restart of the daemon', async () => {
    const waiting = type('wait', 'T2', '--timeout', '1h');
    await waiting.listens();
    await world.restart();
    await complete('T2');
    expect(await waiting.code).toBe(0);
    expect(waiting.said.err).toBe('');
  });
});

it('a session can wait for tasks, and learns nothing about pipelines', async () => {
  await world.ask('task_create', { task_id: 'T3', title: 'third' });
  const { token } = await world.ask<{ token: string }>('task_claim', { task_id: 'T3', as: 'ada' });
  const pipeline = await world.run('breaks');
  const asked = await world.call('run_wait', { ids: ['T1'] }, token);
  expect(asked).toMatchObject({ ok: true, result: { waits: [{ id: 'T1', state: 'done' }] } });
  expect(await world.call('run_wait', { ids: [pipeline] }, token)).toMatchObject({ error: { code: 'no-such-task' } });
});
