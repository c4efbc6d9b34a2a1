import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findProcessesByMark } from '../effects/processes/supervised.ts';
import { until } from './running.cases.ts';
import { HANGING, RunScene, type Shown, untilNobodyIs } from './runs.cases.ts';

let world: RunScene;
beforeEach(() => {
  world = new RunScene();
});
afterEach(async () => world.end());

/** Reports to the supervisor, which runs even while no daemon does. */
const COMPLETE = String.raw`curl -s $BATON_URL/v1/agent_signal -H \"authorization: Bearer $BATON_TOKEN\" -d '{\"kind\":\"complete\"}'`;
const go = (): void => writeFileSync(join(world.repository, 'go'), '');

describe('a restarted daemon', () => {
  it('finds the running agent, and starts no second one', async () => {
    world.write(`
      [agents.worker]
      run = "echo x >> starts.txt; while ! test -f go; do sleep 0.05; done; ${COMPLETE}"
      [pipelines.p]
      steps = [{ name = "work", run = { agent = "worker" } }, { name = "after", run = "echo after >> after.txt" }]`);
    await world.start();
    const id = await world.run('p');
    const agentId = await world.agentIn(id, 'work');
    const { pid } = await world.untilRunning(agentId);
    await world.restart();
    expect(await world.untilRunning(agentId)).toMatchObject({ pid, start: 1 });
    go();
    expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
    expect(world.lines('starts.txt')).toHaveLength(1);
    expect(world.lines('after.txt')).toHaveLength(1);
    await untilNobodyIs(agentId);
  });

  it('continues from what an agent reported and did while no daemon ran', async () => {
    world.write(`
      [agents.worker]
      run = "while ! test -f go; do sleep 0.05; done; ${COMPLETE}"
      [pipelines.p]
      steps = [{ name = "work", run = { agent = "worker" } }, { name = "after", run = "echo after >> after.txt" }]`);
    await world.start();
    const id = await world.run('p');
    const agentId = await world.agentIn(id, 'work');
    await world.untilRunning(agentId);
    await world.stop();
    go();
    await untilNobodyIs(agentId);
    await world.start();
    expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
    expect((await world.types()).filter((type) => type === 'AgentExited')).toHaveLength(1);
    expect(world.lines('after.txt')).toHaveLength(1);
  });

  it('runs a command once, whether it ended before or after', async () => {
    world.write(`
      [pipelines.p]
      steps = [
        { name = "slow", run = "echo x >> runs.txt; while ! test -f go; do sleep 0.05; done; echo slept" },
        { name = "after", run = "echo \${step.slow.output} >> after.txt" },
      ]`);
    await world.start();
    const id = await world.run('p');
    await until(() => world.lines('runs.txt').length > 0, 'it runs');
    await world.restart();
    await world.stop();
    go();
    await world.start();
    expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
    expect(world.lines('runs.txt')).toEqual(['x']);
    expect(world.lines('after.txt')).toEqual(['slept']);
  });

  it('reports the end of an agent whose supervisor was killed meanwhile, and leaves nothing of it', async () => {
    // A sandbox would end with its supervisor.
    world.write(`sandbox = "none"${HANGING}`);
    await world.start();
    const id = await world.run('p');
    const agentId = await world.agentIn(id, 'work');
    await world.untilRunning(agentId);
    const started = (await world.entries()).find(({ type }) => type === 'AgentStarted');
    await world.stop();
    process.kill(Number(String(started?.data['supervisor']).split('/')[1]), 'SIGKILL');
    expect(findProcessesByMark({ name: 'BATON_AGENT_ID', value: agentId })).not.toEqual([]);
    await world.start();
    expect(await world.pipeline(id)).toMatchObject({ status: 'failed' });
    await untilNobodyIs(agentId);
  });

  it('keeps its timers: overdue ones fire at once', async () => {
    world.write(`
      [pipelines.p]
      steps = [{ name = "s", run = "echo x >> tries.txt; test $(wc -l < tries.txt) = 2", on_fail = { retries = 1, cooldown = "1s" } }]`);
    await world.start();
    const id = await world.run('p');
    await until(async () => (await world.types()).includes('TimerSet'), 'the timer is set');
    await world.restart();
    expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
    expect(world.lines('tries.txt')).toHaveLength(2);
  });

  it('keeps a parked agent and its claim, and resumes it when the decision is made', async () => {
    const escalate = COMPLETE.replace('complete', 'escalate');
    world.write(`
      [agents.unsure]
      run = "head -n 1 >> told.txt; if test $BATON_START = 1; then ${escalate}; else ${COMPLETE}; fi"
      prompt = "begin"
      requires = []
      [workers.w]
      phases = ["IMPLEMENTATION"]
      run = { agent = "unsure" }`);
    const short = { BATON_CLAIM_EXPIRY_MS: '700', BATON_RENEWAL_MS: '100' };
    await world.start(short);
    await world.ask('task_create', { task_id: 'T1', title: 'One' });
    const agents = async () => (await world.ask<{ agents: Shown[] }>('agent_list', { all: true })).agents;
    await until(async () => (await agents())[0]?.process === 'gone', 'it has left');
    expect(await agents()).toMatchObject([{ status: 'escalated' }]);
    const waited = performance.now() + 1500;
    await until(() => performance.now() > waited, 'a claim that nobody renews would be over');
    await world.restart(short);
    const [decision] = (await world.ask<{ decisions: Shown[] }>('decision_list')).decisions;
    await world.ask('decision_resolve', { id: decision?.id, option: 1, message: 'go on' });
    await until(async () => (await agents())[0]?.outcome === 'done', 'it is done');
    const prepared = (await world.entries()).find(({ type }) => type === 'SessionPrepared');
    const told = readFileSync(join(String(prepared?.data['workspace']), 'told.txt'), 'utf8');
    expect(told).toBe('begin\ngo on\n');
    const types = await world.types();
    expect(types.filter((type) => /^Claim|^TaskClaimed/.test(type))).toEqual(['TaskClaimed', 'ClaimCompleted']);
    expect(types.filter((type) => type === 'DecisionOpened')).toHaveLength(1);
  });

  it('ends a command that was cancelled while the daemon stopped', async () => {
    world.write(`
      limits = { kill_after = "200ms" }
      [pipelines.p]
      steps = [{ name = "s", run = "echo $$ > pid.txt; sleep 300" }]`);
    await world.start();
    const id = await world.run('p');
    await until(() => (world.lines('pid.txt')[0] ?? '') !== '', 'it runs');
    void world.call('pipeline_cancel', { id });
    await until(async () => (await world.ask('pipeline_show', { id })).status !== 'running', 'it is cancelled');
    await world.restart();
    const pid = Number(world.lines('pid.txt')[0]);
    await until(() => !isAlive(pid), 'it is gone');
    expect(await world.pipeline(id)).toMatchObject({ status: 'cancelled' });
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
