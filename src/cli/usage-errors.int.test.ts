import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli, type Ran } from '../../test/run-cli.ts';
import { RunScene } from '../daemon/runs.cases.ts';

const world = new RunScene();

beforeAll(async () => {
  world.write(`
    sandbox = "none"
    [pipelines]
    ship = { steps = [{ name = "build", run = "true" }] }
    [commands]
    greet = { run = "true" }
    [agents]
    asker = { run = "true" }`);
  await world.start();
  for (let n = 1; n <= 101; n += 1) await world.ask('task_create', { task_id: `T${n}`, title: `task ${n}` });
});
afterAll(async () => world.end());

async function baton(args: readonly string[], input = ''): Promise<Ran> {
  const env = { ...world.scene.env, BATON_STATE_DIR: world.stateDir };
  return runCli(args, input, { env, cwd: world.repository });
}

describe('what the daemon refuses', () => {
  it.each([
    [['run', 'shp'], 'Did you mean `ship`?'],
    [['agent', 'run', 'askr'], 'Did you mean `asker`?'],
    [['run', 'issue', 'x', '--mode', 'supervisd'], 'Did you mean `supervised`?'],
    [['task', 'show', ''], 'The task, as in'],
    [['task', 'add', 'X', '--title', ''], 'Add it. The goal, in a few words.'],
  ])('%j is a usage error', async (args, hint) => {
    expect(await baton(args)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(hint) });
  });

  it.each([
    [['task', 'show', 'T999'], 'no-such-task'],
    [['task', 'unblock', 'T1', '--reason', 'x'], 'not-blocked'],
  ])('%j is a failure', async (args, code) => {
    expect(await baton(args)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(`[${code}]`) });
  });

  it('is a failure if a message is not valid, as in `baton validate`', async () => {
    const claimed = await baton(['task', 'claim', 'T1', '--as', 'ada', '--json']);
    const { token }: { token: string } = JSON.parse(claimed.out);
    const sent = await baton(['emit', 'agent:signal', '{"kind":"complete","message":7}', '--token', token]);
    expect(sent).toMatchObject({ code: 1, err: expect.stringContaining('[bad-request]') });
    await baton(['task', 'release', 'T1', '--token', token]);
  });
});

describe('an id that does not exist', () => {
  it('is compared with every task, not only with the first page of the list', async () => {
    expect((await baton(['task', 'show', 't101'])).err).toContain('Did you mean T101?');
    expect((await baton(['completion', '--words', '--', 'task', 'show', 'T10'])).out).toBe('T10\nT100\nT101\n');
  });

  it('is an error in a list of handoffs, too', async () => {
    expect(await baton(['handoff', 'list', 'T1'])).toMatchObject({ code: 0, out: 'No handoffs.\n' });
    const { code, err } = await baton(['handoff', 'list', 't2']);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/\[no-such-task\]\n.*Did you mean T2\?/) });
  });

  it('is compared with the tasks of the ledger if a proof is wanted', async () => {
    const { code, err } = await baton(['ledger', 'prove', 't101']);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('Did you mean T101?') });
  });
});

it('completes the names of the runbook, and tasks where a task is expected', async () => {
  const words = async (...typed: string[]): Promise<string> =>
    (await baton(['completion', '--words', '--', ...typed])).out;
  expect(await words('run', '')).toBe('greet\nissue\nship\n');
  expect(await words('agent', 'run', 'as')).toBe('asker\n');
  expect(await words('merge', 'T101')).toBe('T101\n');
  expect(await words('ledger', 'log', '--task', 'T101')).toBe('T101\n');
  expect(await words('task', 'add', 'X', '--after', 'T101')).toBe('T101\n');
});

it('reads a note from standard input', async () => {
  expect(await baton(['task', 'note', 'T2', '-'], 'Use the parser that we have\n')).toMatchObject({ code: 0, err: '' });
  expect((await baton(['task', 'brief', 'T2'])).out).toContain('Use the parser that we have');
});

it('shows no headings above an empty log', async () => {
  expect(await baton(['ledger', 'log', '--task', 'T999'])).toMatchObject({ code: 0, out: '' });
  expect((await baton(['ledger', 'log', '--task', 'T2'])).out).toMatch(/^ +SEQ +TIME/);
});
