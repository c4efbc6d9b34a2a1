import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readLedger, typesOf } from '../processes/ledger.ts';
import { Terminal } from '../processes/terminal.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';
import { BATON } from '../package/where.ts';
import { runCli } from '../run-cli.ts';
import { inLongLane } from '../lanes.ts';

/** Agents without a model: commands that wait for a message, signal, or exit without a signal. */
const RUNBOOK = `
[notify]
desktop = false

[agents.patient]
sandbox = "none"
run = '''echo "hello from $BATON_AGENT_ID"; while [ ! -e "$GO" ]; do sleep 0.05; done; echo leaving; baton emit agent:signal '{"kind":"complete","message":"all green"}' '''
env = { GO = "go-patient" }

[agents.silent]
sandbox = "none"
run = "echo I say nothing"

[agents.listener]
run = '''while read -r line; do echo "heard: $line"; if [ "$line" = bye ]; then baton emit agent:signal '{"kind":"complete"}'; exit 0; fi; done'''

[pipelines.ship]
vars = { tag = "v0" }
steps = [{ name = "build", run = "echo building \${var.tag}" }, { name = "test", run = "true" }]

[pipelines.broken]
steps = [{ name = "build", run = "echo no luck >&2; exit 7" }]

[pipelines.careful]
steps = [{ name = "review", run = { agent = "silent" } }, { name = "after", run = "true" }]

[pipelines.outer]
steps = [{ name = "inner", run = { pipeline = "careful" } }]

[pipelines.slow]
steps = [{ name = "work", run = { agent = "patient" } }]

[pipelines.noisy]
steps = [{ name = "one", run = "echo quiet" }, { name = "two", run = "seq 12 >&2; exit 3" }]

[agents.lost]
run = "echo I am lost"
on_dead = "fail"

[pipelines.lost]
steps = [{ name = "only", run = { agent = "lost" } }]

[commands.greet]
args = "<name>"
run = "echo Hello \${var.name}; seq 20"

[commands.release]
args = "<tag> [--dry]"
run = { pipeline = "ship", vars = { tag = "\${var.tag}" } }
`;

let world: World;

beforeAll(async () => {
  world = new World();
  world.commit(world.repository, { 'baton.toml': RUNBOOK }, 'a runbook');
  await world.startDaemon();
});

afterAll(async () => world[Symbol.asyncDispose]());

/** Runs in this process; `first-use.int.test.ts` and the documentation test the command as a separate process. */
const baton = async (...args: string[]) => runCli(args, '', { env: world.env, cwd: world.repository });
const json = async (...args: string[]): Promise<Record<string, never>> => {
  const { out, err } = await baton(...args, '--json');
  expect(err).toBe('');
  return JSON.parse(out);
};

/** Starts a run detached and returns its id. */
async function start(...args: string[]): Promise<string> {
  const { id } = await json(...args, '--detach');
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  return String(id);
}

async function terminal(args: readonly string[], size = {}): Promise<Terminal> {
  return new Terminal([process.execPath, BATON, ...args], { cwd: world.repository, env: world.env, ...size });
}

describe('baton run', () => {
  it('shows the progress of a pipeline, and ends with it', async () => {
    const { code, out, err } = await baton('run', 'ship');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.replaceAll(/[0-9a-f]{8}/g, 'ID')).toBe(
      'ship ID started\n  build: started\n  build: done\n  test: started\n  test: done\nship done\n',
    );
  });

  it('passes arguments on, options included', async () => {
    const id = await start('run', 'release', 'v9', '--dry');
    expect((await baton('pipeline', 'wait', id)).code).toBe(0);
    expect(await json('pipeline', 'show', id)).toMatchObject({ vars: { tag: 'v9' }, status: 'done' });
  });

  it('fails with the pipeline', async () => {
    const { code, out } = await baton('run', 'broken');
    expect(code).toBe(1);
    expect(out).toMatch(/build: failed/);
    expect(out).toMatch(/broken failed/);
  });

  it("shows the end of a failed step's output, and where all of it is", async () => {
    const { code, out, err } = await baton('run', 'noisy');
    expect({ code, err }).toEqual({ code: 1, err: '' });
    const shown =
      /^ {2}two: failed: exit code 3\n((?: {4}.*\n)+)noisy failed: step two failed: exit code 3\n$/m.exec(out)?.[1] ??
      '';
    const lines = shown.trimEnd().split('\n');
    expect(lines.slice(0, -1)).toEqual(['    …', ...[3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((n) => `    ${n}`)]);
    const log = /^ {4}full output: (.*)$/.exec(lines.at(-1) ?? '')?.[1] ?? '';
    expect(readFileSync(log, 'utf8').split('\n').slice(0, 3)).toEqual(['1', '2', '3']);
    const id = /^noisy ([0-9a-f]{8})/.exec(out)?.[1] ?? '';
    const sheet = (await baton('pipeline', 'show', id)).out;
    expect(sheet).toContain(lines.map((line) => `  ${line}\n`).join(''));
    expect(sheet).toMatch(/^ {4}✓ one\n {4}✗ two failed exit code 3\n/m);
    expect((await baton('pipeline', 'wait', id)).out).toBe(sheet);
  });

  inLongLane(() => {
    it("shows the end of a lost agent's output, and how to see the rest", async () => {
      const { code, out } = await baton('run', 'lost');
      expect(code).toBe(1);
      const agent = /lost ([0-9a-f]{8}): queued/.exec(out)?.[1] ?? '';
      expect(out).toContain(
        `  only: failed: on_dead: fail\n    I am lost\n    full output: baton agent logs ${agent}\n`,
      );
    });
  });

  it('shows everything that a plain command printed', async () => {
    const { code, out } = await baton('run', 'greet', 'Ada');
    expect(code).toBe(0);
    const lines = Array.from({ length: 20 }, (_, i) => `    ${i + 1}\n`).join('');
    expect(out.replaceAll(/[0-9a-f]{8}/g, 'ID')).toBe(
      `greet ID started\n  run: started\n  run: done\n    Hello Ada\n${lines}greet done\n`,
    );
  });

  it('shows a plan and does nothing', async () => {
    const before = await json('pipeline', 'list', '--all');
    const { code, out } = await baton('run', 'careful', '--plan');
    expect(code).toBe(0);
    expect(out).toBe(
      'pipeline careful\n  review: agent silent (echo I say nothing; no sandbox)\n  after: shell true\nfirst: start agent silent\n',
    );
    expect(await json('pipeline', 'list', '--all')).toEqual(before);
  });

  it('suggests what was probably meant', async () => {
    const { code, err } = await baton('run', 'shipp');
    expect(code).toBe(2);
    expect(err).toContain('Did you mean `ship`?');
  });

  it.each([
    { args: ['run', 'release'] },
    { args: ['run', 'release', 'v9', '--nope'] },
    { args: ['run', 'release', 'v9', 'and more', '--plan'] },
    { args: ['run', 'ship', '--tag'] },
    { args: ['run', 'silent', 'too much'] },
    { args: ['run', 'issue'] },
    { args: ['run', 'issue', 'A title', '--mode', 'nope'] },
    { args: ['run', 'issue', 'A title', '--priority', 'high', '--json'] },
  ])('ends with 2 where what was typed is not what it takes: $args', async ({ args }) => {
    const { code, out, err } = await baton(...args);
    expect(code).toBe(2);
    expect(`${out}${err}`).toMatch(/^(?:Error: .*\n {2}hint: |\{"error":\{"code":"runbook\/usage")/);
  });

  it('prints the entries of the run with --json', async () => {
    const { code, out } = await baton('run', 'ship', '--json');
    expect(code).toBe(0);
    const types = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type); // oxlint-disable-line typescript/no-unsafe-return
    expect(types[0]).toBe('PipelineStarted');
    expect(types.at(-1)).toBe('PipelineFinished');
  });

  it('keeps a run running at Ctrl-C, and prints how to end it', async () => {
    await using shell = await terminal(['run', 'slow']);
    await shell.shows('patient: started');
    shell.type('\u0003');
    expect(await shell.exit()).toBe(130);
    expect(shell.written).toMatch(/The run continues in the background.*baton pipeline cancel ([0-9a-f]{8})/s);
    const id = /pipeline cancel ([0-9a-f]{8})/.exec(shell.written)?.[1] ?? '';
    expect(await json('pipeline', 'show', id)).toMatchObject({ status: 'running' });
    await using again = await terminal(['run', '--follow', id]);
    await again.shows('● work running');
    expect((await baton('pipeline', 'cancel', id, '--reason', 'enough')).code).toBe(0);
    expect(await again.exit()).toBe(1);
    await again.shows(/patient: cancelled: enough\n(.*\n)* {2}work: cancelled: enough\nslow cancelled: enough/);
    expect((await baton('pipeline', 'wait', id)).code).toBe(1);
    expect(await json('pipeline', 'show', id)).toMatchObject({ status: 'cancelled' });
  });
});

describe('a runbook with mistakes', () => {
  it.each([{ args: ['run', 'ship'] }, { args: ['run', 'ship', '--plan'] }, { args: ['agent', 'run', 'silent'] }])(
    'is told one problem after the other: baton $args',
    async ({ args }) => {
      const mistakes = '[agents.a]\nrun = "true"\npromt = "x"\n"modle\\u001b[2J" = "x"\n';
      world.write(world.repository, { 'baton.toml': mistakes });
      onTestFinished(() => world.write(world.repository, { 'baton.toml': RUNBOOK }));
      const checked = (await baton('runbook', 'check')).err;
      const { code, out, err } = await baton(...args);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      // The same output, without the lines of the file.
      const expected = checked.replaceAll(/^ +\d* \|.*\n/gm, '');
      expect(expected.match(/^Error: /gm)).toHaveLength(2);
      expect(err).toMatch(/^Error: .*modle\\u001b\[2J \[unknown-field\]$/m);
      expect(err).toBe(`${expected}See them in the files: baton runbook check\n`);
    },
  );
});

describe('what needs a person', () => {
  it('are failed runs, until somebody acknowledges them', async () => {
    const failed = async (): Promise<readonly string[]> =>
      ((await json('pipeline', 'list', '--all')) as never as { pipelines: { id: string; status: string }[] }).pipelines
        .filter(({ status }) => status === 'failed')
        .map(({ id }) => id);
    expect((await baton('status')).out).toMatch(/failed runs need you/);
    for (const id of await failed()) expect((await baton('ack', id.slice(0, 8))).code).toBe(0);
    expect((await baton('status')).out).not.toMatch(/failed run/);
    expect((await baton('ack', 'nothing')).err).toContain('there is no run nothing');
  });

  it('ends baton run with 3 and the decision; resolving it continues the pipeline', async () => {
    const { code, out } = await baton('run', 'careful');
    expect(code).toBe(3);
    expect(out).toContain('Pipeline needs attention: careful');
    expect(out).toMatch(/ {2}1\. .* \(recommended\)/);
    const id = /decision resolve ([0-9a-f]{8})/.exec(out)?.[1] ?? '';
    expect((await baton('decision', 'list')).out).toContain(id);
    expect((await baton('status')).out).toMatch(/1 decision needs you/);
    const { options, pipeline_id } = (await json('decision', 'show', id)) as never as {
      options: { action: string; n: number }[];
      pipeline_id: string;
    };
    const done = options.find(({ action }) => action === 'done' || action === 'skip')?.n ?? 0;
    expect((await baton('decision', 'resolve', id, String(done), '-m', 'looks good')).code).toBe(0);
    expect((await baton('pipeline', 'wait', pipeline_id)).code).toBe(0);
    expect((await baton('decision', 'show', id)).out).toMatch(/Resolved with \d .* by operator:\S+ at .*: looks good/);
    expect((await baton('decision', 'list')).out).toBe('No open decisions.\n');
    expect((await baton('decision', 'resolve', id, '9')).code).toBe(1);
  });

  it('is answered with a delay: until then the answer is shown and can be undone, then it takes effect once, also after a kill', async () => {
    const pipeline = await start('run', 'careful');
    expect((await baton('pipeline', 'wait', pipeline)).code).toBe(3);
    const { id } = ((await json('decision', 'list')) as never as { decisions: { id: string }[] }).decisions[0] ?? {
      id: '',
    };
    const short = id.slice(0, 8);
    expect((await baton('decision', 'resolve', short, '3', '--delay', '60')).out).toMatch(
      /^Decision [0-9a-f]{8}: skip, takes effect in \d+s\.\nUndo: baton decision undo [0-9a-f]{8}\n$/,
    );
    expect((await baton('decision', 'list')).out).toMatch(
      /\(answered 3 \(Skip\) by operator:\S+, takes effect in \d+s\)/,
    );
    expect((await baton('status')).out).toMatch(/^1 answer takes effect soon, .*\nanswered\n/);
    expect(await baton('decision', 'review')).toMatchObject({ code: 0, out: expect.stringContaining('answered 3') });
    expect((await baton('decision', 'resolve', short, '1')).err).toContain('was answered by operator:');
    expect((await baton('decision', 'undo', short)).out).toContain('the answer skip is withdrawn');
    expect((await baton('decision', 'undo', short)).err).toContain('has no answer that could be withdrawn');
    expect((await baton('decision', 'resolve', short, '3', '--delay', '2')).code).toBe(0);
    await world.endDaemon('SIGKILL');
    const mine = async () => (await readLedger(world)).filter(({ data }) => data['decision_id'] === id);
    expect(typesOf(await mine()).at(-1)).toBe('DecisionAnswered');
    await world.startDaemon();
    expect((await baton('pipeline', 'wait', pipeline)).code).toBe(0);
    const [answered, resolved, ...more] = (await mine()).slice(-2);
    expect([answered?.type, resolved?.type, more]).toEqual(['DecisionAnswered', 'DecisionResolved', []]);
    expect(resolved?.data['by']).toBe(answered?.actor);
    expect((await baton('decision', 'undo', short)).err).toMatch(/took effect at .*: 3 \(Skip\)/);
  });

  it('holds the pipeline around a nested one, too', async () => {
    const { code, out } = await baton('run', 'outer');
    expect(code).toBe(3);
    expect(out).toMatch(
      /^outer [0-9a-f]{8} started\n {2}inner: started\n {4}careful [0-9a-f]{8} started\n {6}review: started/,
    );
    const outer = /^outer ([0-9a-f]{8})/.exec(out)?.[1] ?? '';
    expect((await baton('pipeline', 'wait', outer)).code).toBe(3);
    const followed = await baton('run', '--follow', outer);
    expect(followed).toMatchObject({ code: 3, out: expect.stringContaining('Pipeline needs attention: careful') });
    expect(await json('pipeline', 'show', outer)).toMatchObject({ status: 'waiting', decision_id: expect.any(String) });
    expect((await baton('status')).out).toMatch(/! outer .*\n.*● inner .*\n.*! careful .*\n.*! review/);
    const id = /decision resolve ([0-9a-f]{8})/.exec(out)?.[1] ?? '';
    expect((await baton('decision', 'resolve', id, '3')).code).toBe(0);
    expect((await baton('pipeline', 'wait', outer)).code).toBe(0);
  });

  it('is retried if it waits, and run again if it has ended', async () => {
    const first = await start('run', 'careful');
    expect((await baton('pipeline', 'wait', first)).code).toBe(3);
    expect(await baton('pipeline', 'retry', first.slice(0, 8))).toEqual({
      code: 0,
      out: `Pipeline ${first.slice(0, 8)} retries its step.\n`,
      err: '',
    });
    expect((await baton('pipeline', 'cancel', first)).code).toBe(0);
    expect((await baton('pipeline', 'wait', first)).code).toBe(1);
    const broken = await start('run', 'broken');
    expect((await baton('pipeline', 'wait', broken)).code).toBe(1);
    const said = (await baton('pipeline', 'retry', broken.slice(0, 8))).out;
    const [, next = '', short] =
      /^Pipeline [0-9a-f]{8} has ended\. Started (\S{36}) in its place\. Wait for it: baton pipeline wait (\S{8})\n$/.exec(
        said,
      ) ?? [];
    expect([said.slice(9, 17), short]).toEqual([broken.slice(0, 8), next.slice(0, 8)]);
    expect(next).not.toBe(broken);
    expect((await baton('pipeline', 'wait', next)).code).toBe(1);
    expect(await json('pipeline', 'show', next)).toMatchObject({ name: 'broken', status: 'failed' });
  });

  it('is shown in a terminal, one by one', async () => {
    expect(await baton('decision', 'review')).toEqual({ code: 0, out: 'No open decisions.\n', err: '' });
    const pipeline = await start('run', 'careful');
    expect((await baton('pipeline', 'wait', pipeline)).code).toBe(3);
    const printed = await baton('decision', 'review');
    expect(printed.code).toBe(3);
    expect(printed.out).toContain('Pipeline needs attention: careful');
    await using shell = await terminal(['decision', 'review']);
    await shell.shows('1 of 1');
    await shell.shows('q to quit');
    const options = [...shell.picture.join('\n').matchAll(/^ {2}(\d)\. (.*)$/gm)];
    const cancel = options.at(-1)?.[1] ?? '';
    shell.type(`9\r`);
    shell.type(`${cancel}\r`);
    await shell.shows('Note for the next session');
    shell.type('not today\r');
    expect(await shell.exit()).toBe(0);
    expect((await baton('pipeline', 'wait', pipeline)).code).toBe(1);
    expect(await json('pipeline', 'show', pipeline)).toMatchObject({ status: 'cancelled' });
  });
});

describe('baton agent', () => {
  it('runs a standalone one, shows it, follows its log and ends with it', async () => {
    const id = await start('agent', 'run', 'patient');
    expect((await baton('agent', 'list')).out).toContain(id.slice(0, 8));
    await using log = await terminal(['agent', 'logs', '-f', id]);
    await log.shows(`hello from ${id}`);
    expect((await baton('agent', 'show', id)).out).toMatch(/status {2,}running/);
    world.write(world.repository, { 'go-patient': '' });
    expect((await baton('agent', 'wait', id)).code).toBe(0);
    expect(await log.exit()).toBe(0);
    expect(log.picture.filter((line) => line !== '')).toEqual([`hello from ${id}`, 'leaving', 'Recorded: complete.']);
    expect((await baton('agent', 'logs', id, '-n', '1')).out).toBe('Recorded: complete.\n');
  });

  it('accepts messages, line by line', async () => {
    const id = await start('agent', 'run', 'listener');
    await using shell = await terminal(['agent', 'attach', id.slice(0, 8)]);
    await shell.shows('Ctrl-D detaches');
    shell.type('how are you\r');
    await shell.shows('heard: how are you');
    expect((await baton('agent', 'send', id, 'from elsewhere')).code).toBe(0);
    await shell.shows('heard: from elsewhere');
    shell.type('bye\r');
    expect(await shell.exit()).toBe(0);
    expect(await json('agent', 'show', id)).toMatchObject({ outcome: 'done' });
  });

  it('is detached with Ctrl-D, and stopped', async () => {
    const id = await start('agent', 'run', 'listener');
    await using shell = await terminal(['agent', 'attach', id]);
    await shell.shows('Ctrl-D detaches');
    shell.type('\u0004');
    expect(await shell.exit()).toBe(0);
    expect(shell.written).toContain('Detached; the agent continues.');
    expect((await baton('agent', 'kill', id, '--reason', 'enough')).code).toBe(0);
    expect((await baton('agent', 'wait', id)).code).toBe(1);
  });

  it('accepts signals and reports about it from the command', async () => {
    const id = await start('agent', 'run', 'listener');
    await until('its process runs', async () => String((await json('agent', 'show', id))['process']) === 'running');
    expect((await baton('emit', 'agent:signal', '--agent', id, '{"kind":"continue"}')).out).toBe(
      'Recorded: continue.\n',
    );
    expect((await baton('emit', 'agent:signal', '--agent', id, '{"kind":"cont')).code).toBe(1);
    expect((await baton('emit', 'agent:stop', '--agent', id)).code).toBe(0);
    expect((await baton('agent', 'wait', id)).code).toBe(3);
    expect((await baton('emit', 'agent:idle', '--agent', id)).code).toBe(0);
    const decisions = (await json('decision', 'list')) as never as { decisions: { agent_id: string; id: string }[] };
    expect(decisions.decisions.filter(({ agent_id }) => agent_id === id)).toHaveLength(1);
    expect((await baton('emit', 'agent:signal', '--agent', id, '{"kind":"complete"}')).code).toBe(0);
    expect(await json('agent', 'show', id)).toMatchObject({ status: 'leaving', outcome: 'done' });
    expect((await baton('agent', 'send', id, 'bye')).code).toBe(1);
    expect((await baton('agent', 'kill', id)).code).toBe(0);
    expect((await baton('agent', 'wait', id)).code).toBe(0);
    await until(
      'the decision is withdrawn',
      async () => (await baton('decision', 'list')).out === 'No open decisions.\n',
    );
  });

  it('reports an unknown one', async () => {
    const { code, err } = await baton('agent', 'show', '00000000');
    expect(code).toBe(1);
    expect(err).toMatch(/^Error: .*00000000/);
  });
});
