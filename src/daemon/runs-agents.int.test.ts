import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentDetails } from '../api/operations/runs.ts';
import { renderAgent } from '../cli/agents/agents.ts';
import { findProcessesByMark } from '../effects/processes/supervised.ts';
import { findFence } from '../git/fence/install.ts';
import { gitText } from '../git/run-git.ts';
import { findProgram } from '../notify/run-program.ts';
import { isIsolated } from '../protocol/sandbox.ts';
import { agentFiles, type Launch } from '../supervisor/contract.ts';
import { until } from './running.cases.ts';
import { HANGING, RunScene, type Shown, untilNobodyIs } from './runs.cases.ts';
import { inLongLane } from '../../test/lanes.ts';

let world: RunScene;
beforeEach(() => {
  world = new RunScene();
});
afterEach(async () => world.end());

const COMPLETE = `baton emit agent:signal '{\\"kind\\":\\"complete\\"}'`;

describe('an agent', () => {
  it('that is killed ends with all processes that it started, even outside its group', async () => {
    world.write(`
      limits = { kill_after = "200ms" }
      [agents.stubborn]
      run = "trap '' TERM; setsid sh -c 'trap \\"\\" TERM; sleep 300' & echo ready; sleep 300"`);
    await world.start();
    const id = await world.run('stubborn');
    await world.untilRunning(id);
    await until(() => findProcessesByMark({ name: 'BATON_AGENT_ID', value: id }).length >= 3, 'all of them run');
    await world.ask('agent_kill', { id, reason: 'enough' });
    expect(await world.agent(id)).toMatchObject({ status: 'cancelled', process: 'gone' });
    await untilNobodyIs(id);
    // A second call finds nothing to end.
    expect(await world.ask('agent_kill', { id })).toEqual({ id, outcome: 'cancelled' });
  });

  inLongLane(() => {
    it('that is killed before its start never starts, or ends again', async () => {
      world.write(`
      [limits]
      kill_after = "200ms"
      [agents.a]
      run = "sleep 300"`);
      await world.start();
      const ids = await Promise.all([0, 1, 2, 3].map(async () => world.run('a')));
      await Promise.all(ids.map(async (id) => world.ask('agent_kill', { id })));
      for (const id of ids) {
        expect(await world.agent(id)).toMatchObject({ status: 'cancelled' });
        await until(async () => (await world.agent(id)).process === 'gone', 'its process is gone');
        await untilNobodyIs(id);
      }
      expect((await world.types()).filter((type) => type === 'AgentExited')).toHaveLength(4);
    });
  });

  it('receives messages in order and once', async () => {
    world.write(`
      [agents.listener]
      run = "while read line; do echo heard $line >> heard.txt; test $line = bye && break; done; ${COMPLETE}"
      prompt = "hello"`);
    await world.start();
    const id = await world.run('listener');
    for (const text of ['one', 'two', 'three', 'bye']) await world.ask('agent_send', { id, text });
    expect((await world.agent(id)).status).toBe('done');
    expect(world.lines('heard.txt')).toEqual(['heard hello', 'heard one', 'heard two', 'heard three', 'heard bye']);
  });

  it('fails with the reason if it cannot be started', async () => {
    world.write(`
      [agents.lost]
      run = "true"
      prompt_file = "no-such-prompt.md"`);
    await world.start();
    const shown = await world.agent(await world.run('lost'));
    expect(shown.status).toBe('failed');
    expect(shown.reason).toContain('no-such-prompt.md');
  });

  it('whose program is missing opens a decision with the remedy', async () => {
    world.write('[agents.a]\nrun = "claude"\nprompt = "hello"');
    const path = join(world.scene.folder, 'bin');
    mkdirSync(path);
    for (const name of ['git', 'sh']) symlinkSync(findProgram(name, process.env) ?? '', join(path, name));
    await world.start({ PATH: path });
    const shown = await world.agent(await world.run('a'));
    const why =
      "claude is not on the daemon's PATH. Install it, or start the daemon where it is found: baton down && baton up";
    expect(shown).toMatchObject({ status: 'escalated', exit: { code: 127, output: why } });
    const { context } = await world.ask<{ context: string }>('decision_show', { id: shown.decision_id });
    expect(context).toContain(why);
    expect(renderAgent(await world.ask<AgentDetails>('agent_show', { id: shown.id }))).toContain(`code 127: ${why}`);
  });

  inLongLane(() => {
    it('whose supervisor is killed ends too, and its run continues by the runbook', async () => {
      world.write(HANGING);
      await world.start();
      const id = await world.run('p');
      const agentId = await world.agentIn(id, 'work');
      await world.untilRunning(agentId);
      process.kill(await supervisorOf(agentId), 'SIGKILL');
      expect(await world.pipeline(id)).toMatchObject({ status: 'failed' });
      expect(await world.agent(agentId)).toMatchObject({ process: 'gone', exit: { code: null, signal: 'SIGKILL' } });
      await untilNobodyIs(agentId);
      expect((await world.types()).filter((type) => type === 'AgentExited')).toHaveLength(1);
    });
  });

  it('that dies is resumed with the rendered message of the runbook', async () => {
    world.write(`
      [agents.forgetful]
      run = "head -n 1 >> told.txt; test $BATON_START = 2 && ${COMPLETE}"
      prompt = "start \${var.what}"
      on_dead = { action = "resume", message = "go on with \${var.what}" }
      [pipelines.p]
      vars = { what = "it" }
      steps = [{ name = "work", run = { agent = "forgetful" } }]`);
    await world.start();
    expect(await world.pipeline(await world.run('p', '--what', 'that'))).toMatchObject({ status: 'done' });
    expect(world.lines('told.txt')).toEqual(['start that', 'go on with that']);
  });

  inLongLane(() => {
    it('that dies is resumed with a default message if the runbook has none', async () => {
      writeFileSync(join(world.repository, 'dies.yaml'), '- say: Working.\n- crash: 1\n- signal: complete\n');
      world.write(`
      [agents.mortal]
      run = "scripted dies.yaml"
      prompt = "Work."
      on_dead = "resume"`);
      await world.start();
      const id = await world.run('mortal');
      expect(await world.agent(id)).toMatchObject({ status: 'done', start: 2 });
      const launch: Partial<Launch> = JSON.parse(readFileSync(agentFiles(world.stateDir, id).launch(2), 'utf8'));
      expect(launch.prompt).toMatch(/^Continue where you stopped\./);
    });
  });

  it('opens a decision if it is silent in a turn, and is restarted in its conversation', async () => {
    writeFileSync(join(world.repository, 'silent.yaml'), '- say: Working.\n- hang\n- signal: complete\n');
    world.write(`
      [limits]
      silence = "800ms"
      kill_after = "200ms"
      [agents.silent]
      run = "scripted silent.yaml"
      prompt = "Work."`);
    await world.start();
    const id = await world.run('silent');
    expect(await world.agent(id)).toMatchObject({ status: 'escalated', process: 'running' });
    const [decision] = (await world.ask<{ decisions: Shown[] }>('decision_list')).decisions;
    expect(decision).toMatchObject({ source: 'idle', context: expect.stringContaining('silent for') });
    await world.ask('decision_resolve', { id: decision?.id, option: 1 });
    expect(await world.agent(id)).toMatchObject({ status: 'done', start: 2 });
    expect(await world.types()).toContain('AgentRestartRequested');
  });

  it('that cannot be started because of the disk does not end the daemon', async () => {
    world.write(`
      [agents.a]
      run = "true"`);
    await world.start();
    writeFileSync(join(world.stateDir, 'agents'), 'not a folder');
    const shown = await world.agent(await world.run('a'));
    expect(shown.status).toBe('failed');
    expect(shown.reason).toMatch(/ENOTDIR|EEXIST/);
  });

  inLongLane(() => {
    it('is judged by a gate after it died, as often as the runbook says', async () => {
      world.write(`
      [agents.worker]
      run = "true"
      on_dead = { action = "gate", run = "echo x >> tries.txt; test $(wc -l < tries.txt) = 2", attempts = 3 }
      [pipelines.p]
      steps = [{ name = "work", run = { agent = "worker" } }]`);
      await world.start();
      expect(await world.pipeline(await world.run('p'))).toMatchObject({ status: 'done' });
      expect(world.lines('tries.txt')).toHaveLength(2);
    });
  });
});

describe('a worker', () => {
  it('claims matching tasks and runs an agent on each, up to its concurrency', async () => {
    world.write(`
      [agents.coder]
      run = "echo $BATON_SESSION >> sessions.txt; cat > /dev/null < /dev/null; baton task show \${task.id} > /dev/null; ${COMPLETE}"
      requires = []
      [workers.w]
      phases = ["IMPLEMENTATION"]
      concurrency = 1
      run = { agent = "coder" }`);
    await world.start();
    for (const task_id of ['T1', 'T2']) await world.ask('task_create', { task_id, title: task_id });
    const moved = async (): Promise<boolean> => {
      const { tasks } = await world.ask<{ tasks: { phase: string }[] }>('task_list');
      return tasks.every(({ phase }) => phase === 'CI_PENDING');
    };
    await until(moved, 'both tasks are on');
    const entries = await world.entries();
    const claims = entries.filter(({ type }) => type === 'TaskClaimed');
    const requested = entries.filter(({ type }) => type === 'AgentRequested');
    expect(claims).toHaveLength(2);
    expect(requested.map(({ data }) => data['agent_id'])).toEqual(claims.map(({ data }) => data['session_id']));
    expect(requested.map(({ data }) => data['worker'])).toEqual(['w', 'w']);
    expect(claims.map(({ data }) => data['holder'])).toEqual(['coder', 'coder']);
    expect(entries.filter(({ type }) => type === 'WorkersConfigured')).toHaveLength(1);
  }, 60_000);

  it.each(['auto', 'none'])(
    'commits as the operator, and not after its claim has ended, also if its shell names no hooks; sandbox: %s',
    async (mode) => {
      const commit = 'git -c core.hooksPath= commit --quiet --allow-empty -m';
      const exit = {
        protocol: 'apm2_agent_exit',
        version: '1.0.0',
        phase_completed: 'IMPLEMENTATION',
        exit_reason: 'blocked',
      };
      const script = `trap "" TERM; ${commit} first; baton emit exit '${JSON.stringify(exit)}'; ${commit} late || touch refused`;
      writeFileSync(join(world.repository, 'gitconfig'), '[user]\n\tname = Grace\n\temail = grace@example.org\n');
      world.write(`
      exit_protocol = true
      [agents.coder]
      run = '''${script}'''
      sandbox = "${mode}"
      env = { GIT_CONFIG_GLOBAL = "/dev/null" }
      [workers.w]
      phases = ["IMPLEMENTATION"]
      run = { agent = "coder" }`);
      await world.start({ GIT_CONFIG_GLOBAL: join(world.repository, 'gitconfig') });
      await world.ask('task_create', { task_id: 'T001', title: 'Say hello' });
      await until(async () => (await world.types()).includes('AgentExited'), 'it is over');
      const { data } = (await world.entries()).find(({ type }) => type === 'SessionPrepared') ?? {};
      const log = await gitText(['log', '--format=%an %s', String(data?.['branch'])], { cwd: world.repository });
      expect(log).toMatchObject({ ok: true, value: expect.stringMatching(/^Grace first\n(?!Grace)/) });
      // In a sandbox the session's private git takes the commit, which stays there.
      const { data: started } = (await world.entries()).find(({ type }) => type === 'AgentStarted') ?? {};
      expect(existsSync(join(String(data?.['workspace']), 'refused'))).toBe(!isIsolated(String(started?.['sandbox'])));
    },
  );

  inLongLane(() => {
    it('keeps the claim of a pipeline whose command takes longer than a claim lasts, in a worktree that only that claim may write', async () => {
      world.write(`
      [pipelines.slow]
      steps = [{ name = "s", run = "git commit -q --allow-empty -m one; sleep 1.5", workspace = { branch = "feature/\${task.id}" } }]
      [workers.w]
      run = { pipeline = "slow" }`);
      const git = {
        GIT_AUTHOR_NAME: 't',
        GIT_AUTHOR_EMAIL: 't@t',
        GIT_COMMITTER_NAME: 't',
        GIT_COMMITTER_EMAIL: 't@t',
      };
      await world.start({ BATON_CLAIM_EXPIRY_MS: '600', BATON_RENEWAL_MS: '100', ...git });
      await world.ask('task_create', { task_id: 'T1', title: 'One' });
      await until(async () => (await world.types()).includes('PipelineFinished'), 'the pipeline is over');
      const entries = await world.entries();
      expect(entries.find(({ type }) => type === 'PipelineFinished')?.data).toMatchObject({ outcome: 'done' });
      expect(entries.filter(({ type }) => type === 'ClaimExpired')).toEqual([]);
      const fence = await findFence(join(world.repository, '.worktrees', 't1').replace('t1', 'T1'));
      expect(fence).toMatchObject({ ok: true, value: { taskId: 'T1', epoch: 1 } });
    });
  });

  it('is configured when an operator adopts the runbook, not when the file changes, and once', async () => {
    world.write('');
    await world.start();
    const workers = async (): Promise<unknown> => (await world.ask<{ workers: unknown }>('status_get')).workers;
    expect(await workers()).toEqual([]);
    world.write(`
      [workers.w]
      run = "true"`);
    expect(await workers()).toEqual([]);
    await world.adopt();
    await until(async () => JSON.stringify(await workers()) !== '[]', 'the worker is there');
    await world.restart();
    expect(await workers()).toMatchObject([{ name: 'w' }]);
    expect((await world.types()).filter((type) => type === 'WorkersConfigured')).toHaveLength(1);
  });
});

describe('a person', () => {
  it('is asked once, answers once, and the run continues', async () => {
    const heard: string[] = [];
    const receiver = createServer((request, response) => {
      request.toArray().then(
        (pieces) => heard.push(Buffer.concat(pieces as Buffer[]).toString()), // oxlint-disable-line typescript/no-unsafe-type-assertion
        () => undefined,
      );
      response.end('ok');
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { port } = receiver.address() as AddressInfo; // oxlint-disable-line typescript/no-unsafe-type-assertion
    try {
      world.write(`
        [agents.helpless]
        run = "${COMPLETE.replace('complete', 'escalate')}; read answer; echo $answer > answer.txt; ${COMPLETE}"
        [notify]
        desktop = false
        terminal = false
        webhook = "http://127.0.0.1:${port}/"`);
      await world.start();
      const id = await world.run('helpless');
      const shown = await world.agent(id);
      expect(shown.status).toBe('escalated');
      const [decision, ...more] = (await world.ask<{ decisions: Shown[] }>('decision_list')).decisions;
      expect(more).toEqual([]);
      await until(() => heard.length === 1, 'the person was called');
      expect(heard[0]).toContain('Agent needs attention: helpless');
      const choice = { id: decision?.id, option: 1, message: 'go on' };
      const first = await world.ask('decision_resolve', choice);
      expect(await world.ask('decision_resolve', choice)).toEqual(first);
      expect(await world.call('decision_resolve', { ...choice, option: 2 })).toMatchObject({ ok: false });
      expect((await world.agent(id)).status).toBe('done');
      expect(world.lines('answer.txt')).toEqual(['go on']);
    } finally {
      receiver.close();
    }
  });
});

async function supervisorOf(agentId: string): Promise<number> {
  const started = (await world.entries()).find(
    ({ type, data }) => type === 'AgentStarted' && data['agent_id'] === agentId,
  );
  return Number(String(started?.data['supervisor']).split('/')[1]);
}
