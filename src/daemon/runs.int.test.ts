import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findProcessesByMark } from '../effects/processes/supervised.ts';
import { findProgram } from '../notify/run-program.ts';
import { commandFiles } from '../supervisor/contract.ts';
import { until } from './running.cases.ts';
import { RunScene } from './runs.cases.ts';
import { inLongLane } from '../../test/lanes.ts';

let world: RunScene;
beforeEach(() => {
  world = new RunScene();
});
afterEach(async () => world.end());

const COMPLETE = `baton emit agent:signal '{\\"kind\\":\\"complete\\"}'`;

describe('a pipeline', () => {
  it('runs its steps in order, each once: shell, agent, shell', async () => {
    world.write(`
      [agents.worker]
      run = "head -n 1 > told.txt; echo two >> done.txt; ${COMPLETE}"
      prompt = "do \${var.what}"

      [pipelines.three]
      vars = { what = "it" }
      steps = [
        { name = "first", run = "echo one >> done.txt; echo said" },
        { name = "second", run = { agent = "worker" } },
        { name = "third", run = "echo three \${step.first.output} >> done.txt" },
      ]`);
    await world.start();
    const id = await world.run('three', '--what', "Ada's $HOME");
    const shown = await world.pipeline(id);
    expect(shown.steps.map(({ name, status }) => [name, status])).toEqual([
      ['first', 'done'],
      ['second', 'done'],
      ['third', 'done'],
    ]);
    expect(shown.status).toBe('done');
    expect(world.lines('done.txt')).toEqual(['one', 'two', 'three said']);
    expect(world.lines('told.txt')).toEqual(["do Ada's $HOME"]);
    const entries = await world.entries();
    const started = entries.filter(({ type }) => type === 'StepStarted').map(({ data }) => data['step']);
    expect(started).toEqual(['first', 'second', 'third']);
    expect(entries.filter(({ type }) => type === 'AgentStarted')).toHaveLength(1);
    expect(entries.filter(({ type }) => type === 'CommandFinished')).toHaveLength(2);
  });

  it('fills values into the shell as values, whatever they look like', async () => {
    world.write(`
      [pipelines.say]
      vars = { word = "" }
      steps = [{ name = "say", run = "printf '%s' \${var.word} > said.txt" }]`);
    await world.start();
    const word = `'; touch broken; echo "$(id)" \`id\` \\ *`;
    expect((await world.pipeline(await world.run('say', '--word', word))).status).toBe('done');
    expect(world.lines('said.txt')).toEqual([word.trim()]);
    expect(world.lines('broken')).toEqual([]);
  });

  it("fails with the end of its command's output", async () => {
    world.write(`
      [pipelines.bad]
      steps = [{ name = "only", run = "echo first; echo last >&2; exit 3" }, { name = "never", run = "touch never" }]`);
    await world.start();
    const shown = await world.pipeline(await world.run('bad'));
    expect(shown).toMatchObject({ status: 'failed', reason: expect.stringContaining('exit code 3') });
    expect(shown.steps[0]?.output).toContain('last');
    expect(shown.steps[1]).toMatchObject({ status: 'pending', visits: 0 });
  });

  inLongLane(() => {
    it('ends a command after its timeout, with all processes that it started', async () => {
      world.write(`
      limits = { kill_after = "200ms" }
      [pipelines.slow]
      steps = [{ name = "only", run = "trap '' TERM; echo $$ > pid.txt; setsid sleep 300 & sleep 300", timeout = "500ms" }]`);
      await world.start();
      const shown = await world.pipeline(await world.run('slow'));
      expect(shown.status).toBe('failed');
      await until(() => !isAlive(Number(world.lines('pid.txt')[0])), 'it is gone');
    });
  });

  it('ends its command when it is cancelled', async () => {
    world.write(`
      limits = { kill_after = "200ms" }
      [pipelines.long]
      steps = [{ name = "only", run = "echo $$ > pid.txt; sleep 300" }]`);
    await world.start();
    const id = await world.run('long');
    await until(() => world.lines('pid.txt')[0] !== undefined && world.lines('pid.txt')[0] !== '', 'it runs');
    await world.ask('pipeline_cancel', { id: id.slice(0, 8), reason: 'not needed' });
    expect(await world.pipeline(id)).toMatchObject({ status: 'cancelled' });
    await until(() => !isAlive(Number(world.lines('pid.txt')[0])), 'it is gone');
  });

  it('fails if the supervisor of its command is killed, and leaves no process', async () => {
    world.write(`
      [pipelines.p]
      steps = [{ name = "s", run = "setsid sleep 300 & sleep 300" }]`);
    await world.start();
    const id = await world.run('p');
    const requested = async () => (await world.entries()).find(({ type }) => type === 'CommandRequested');
    await until(async () => (await requested()) !== undefined, 'the command is asked for');
    const value = String((await requested())?.data['command_id']);
    const { running } = commandFiles(world.stateDir, value);
    await until(() => existsSync(running(1)), 'it runs');
    const { supervisor } = JSON.parse(readFileSync(running(1), 'utf8'));
    process.kill(Number(supervisor.split('/')[1]), 'SIGKILL');
    const shown = await world.pipeline(id);
    expect(shown).toMatchObject({ status: 'failed' });
    expect(shown.steps[0]?.output).toBe('its supervisor was killed');
    expect(findProcessesByMark({ name: 'BATON_COMMAND_ID', value })).toEqual([]);
  });

  inLongLane(() => {
    it('retries a step after a pause', async () => {
      world.write(`
      [pipelines.again]
      steps = [{ name = "only", run = "echo x >> tries.txt; test $(wc -l < tries.txt) = 3", on_fail = { retries = 2, cooldown = "100ms" } }]`);
      await world.start();
      const shown = await world.pipeline(await world.run('again'));
      expect(shown.steps[0]).toMatchObject({ status: 'done', visits: 3 });
      expect((await world.types()).filter((type) => type === 'TimerFired')).toHaveLength(2);
    });
  });

  inLongLane(() => {
    it('passes the rendered values of a step to a nested pipeline', async () => {
      world.write(`
      [pipelines.outer]
      vars = { name = "x" }
      steps = [
        { name = "first", run = "echo said" },
        { name = "nested", run = { pipeline = "inner", vars = { word = "\${var.name} \${step.first.output}" } } },
      ]
      [agents.speaker]
      run = "echo \${var.word} >> words.txt; ${COMPLETE}"
      [pipelines.inner]
      vars = { word = "" }
      steps = [{ name = "say", run = "echo \${var.word} >> words.txt" }, { name = "ask", run = { agent = "speaker" } }]`);
      await world.start();
      const literal = ['a $HOME $', "{env.HOME} 'b'"].join('');
      expect(await world.pipeline(await world.run('outer', '--name', literal))).toMatchObject({ status: 'done' });
      expect(world.lines('words.txt')).toEqual([`${literal} said`, `${literal} said`]);
    });
  });

  it('runs in its own worktree if a step asks for one', async () => {
    world.write(`
      [pipelines.apart]
      vars = { name = "x" }
      steps = [
        { name = "make", run = "pwd > here.txt", workspace = { branch = "feature/\${var.name}" } },
        { name = "next", run = "cat here.txt" },
      ]`);
    await world.start();
    const shown = await world.pipeline(await world.run('apart', '--name', 'y'));
    const path = join(world.repository, '.worktrees', 'y');
    expect(shown).toMatchObject({ status: 'done', workspace: { path, branch: 'feature/y' } });
    expect(shown.steps[1]?.output).toBe(path);
    const again = await world.pipeline(await world.run('apart', '--name', 'y'));
    expect(again).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining("branch 'feature/y' already exists"),
    });
  });
});

describe('run_start', () => {
  it('reports every error of the runbook with its place', async () => {
    world.write(`
      [agents.a]
      run = "true"
      on_stop = "nudge"
      [pipelines.p]
      steps = [{ name = "s", run = { agent = "b" } }]`);
    await world.start();
    const answer = await world.call('run_start', { name: 'p' });
    expect(answer).toMatchObject({ ok: false, error: { code: 'bad-runbook' } });
    const message = answer.ok ? '' : answer.error.message;
    expect(message).toMatch(/baton\.toml:4:\d+: .*nudge/);
    expect(message).toMatch(/baton\.toml:6:\d+: /);
    expect(answer.ok ? [] : answer.error.problems).toMatchObject([
      { file: 'baton.toml', line: 4, message: expect.stringContaining('nudge'), hint: expect.stringMatching(/./) },
      { file: 'baton.toml', line: 6, code: 'runbook/unknown-agent', hint: 'Did you mean `a`?' },
    ]);
    expect((await world.types()).filter((type) => type.startsWith('Pipeline'))).toEqual([]);
  });

  it('uses the current runbook, also for pull requests', async () => {
    world.write('');
    await world.start();
    const where = async () =>
      (await world.ask<{ plan: unknown }>('run_plan', { name: 'issue', args: ['A title'] })).plan;
    expect(await where()).toMatchObject({ pull_requests: null });
    world.write('github = { repository = "owner/name" }');
    expect(await where()).toMatchObject({
      pull_requests: 'owner/name',
      lacks_gh: findProgram('gh', process.env) === undefined,
    });
    world.write('github = { pull_requests = true }');
    expect(await where()).toMatchObject({ pull_requests: '' });
  });

  it('suggests a similar name, and reports a missing argument', async () => {
    world.write(
      `
      [pipelines.release]
      vars = { version = { required = true } }
      steps = [{ name = "s", run = "echo \${var.version}" }]`.replace('{ required = true }', '""'),
    );
    await world.start();
    expect(await world.call('run_start', { name: 'relaese' })).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('relaese'), hint: expect.stringContaining('release') },
    });
    expect(await world.call('run_start', { name: 'release', args: ['--nope'] })).toMatchObject({ ok: false });
  });

  it('reads the runbook as it is now', async () => {
    world.write('');
    await world.start();
    expect((await world.call('run_start', { name: 'new' })).ok).toBe(false);
    world.isEdited = true;
    mkdirSync(join(world.repository, '.baton', 'runbooks'), { recursive: true });
    writeFileSync(
      join(world.repository, '.baton', 'runbooks', 'new.yaml'),
      'pipelines:\n  new:\n    steps:\n      - name: s\n        run: "true"\n',
    );
    expect((await world.pipeline(await world.run('new'))).status).toBe('done');
  });

  it('shows what would happen, and does nothing', async () => {
    world.write(`
      [pipelines.p]
      steps = [{ name = "s", run = "touch done.txt" }]`);
    await world.start();
    const plan = await world.ask<{ entries: { type: string }[]; effects: { kind: string }[] }>('run_plan', {
      name: 'p',
    });
    expect(plan.entries.map(({ type }) => type)).toEqual(['PipelineStarted', 'StepStarted', 'CommandRequested']);
    expect(plan.effects.map(({ kind }) => kind)).toEqual(['run-command']);
    expect((await world.types()).filter((type) => type.startsWith('Pipeline'))).toEqual([]);
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
