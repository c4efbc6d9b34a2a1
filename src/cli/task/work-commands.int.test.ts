import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ResultOf } from '../../api/operations/registry.ts';
import { until } from '../../daemon/running.cases.ts';
import { RunScene } from '../../daemon/runs.cases.ts';
import { type StartedCli, startCli } from '../../../test/run-cli.ts';

const world = new RunScene();
const inFolder = (name: string): string => join(world.scene.folder, name);
const [script, second, review] = [inFolder('agent.yaml'), inFolder('second.yaml'), inFolder('review.yaml')];
const RECORD = `printf '{"task_id":"T1","branch":"feature/t1","commit_sha":"%s","tests_run":[],"summary":"one","blockers":[],"files_changed":["a.txt"],"related_thought_records":[]}' $(git rev-parse HEAD) | baton thought record -`;
const signs = inFolder('signs');
const [begin, go] = [join(signs, 'begin'), join(signs, 'go')];
const waitFor = (file: string): object => ({ run: `while [ ! -e ${file} ]; do sleep 0.05; done` });

/** A running command, and its output so far. */
function type(...args: string[]): StartedCli {
  return startCli(args, '', { env: { ...world.scene.env, BATON_STATE_DIR: world.stateDir }, cwd: world.repository });
}

async function baton(...args: string[]) {
  const typed = type(...args);
  const code = await typed.code;
  return { ...typed.said, code };
}

function play(file: string, ...steps: readonly (object | string)[]): void {
  writeFileSync(file, JSON.stringify({ steps: [...steps, 'stop'] }));
}

async function agentIds(): Promise<string[]> {
  const { agents } = await world.ask<{ agents: { id: string }[] }>('agent_list', { all: true });
  return agents.map(({ id }) => id);
}

/** A first session whose check fails, a second one, and a review. The last two wait for the files `begin` and `go`. */
beforeAll(async () => {
  mkdirSync(signs);
  world.write(`
    exit_protocol = true
    sandbox = { read = ["${signs}"] }
    limits = { kill_after = "500ms" }
    [ci]
    required = [{ name = "test", run = "grep -q good a.txt || { echo 'a.txt is bad'; exit 3; }" }]
    [agents]
    coder = { run = "scripted ${script}", on_dead = "fail", requires = ["exit"] }
    judge = { run = "scripted ${review}", on_dead = "fail", requires = ["exit"] }
    [workers]
    w = { tasks = ["T1"], phases = ["IMPLEMENTATION"], run = { agent = "coder" } }
    r = { tasks = ["T1"], phases = ["READY_FOR_REVIEW"], run = { agent = "judge" } }`);
  const done = [{ run: RECORD }, { exit: 'IMPLEMENTATION' }];
  const bad = 'bad\u001B[31m\n';
  const write = { write: { path: 'a.txt', text: bad } };
  play(script, { say: 'First try.' }, waitFor(begin), write, { commit: 'one' }, ...done);
  play(second, { say: 'Second try.' }, { run: 'echo good > a.txt' }, { commit: 'two' }, waitFor(go), ...done);
  play(review, { say: 'Fine.' }, { exit: 'REVIEW' });
  await world.start();
  await world.ask('task_create', { task_id: 'T1', title: 'x' });
  await world.ask('task_create', { task_id: 'T2', title: 'y' });
}, 60_000);
afterAll(async () => world.end());

it(
  'follows a task through its sessions, checks and a restart of the daemon to its end',
  { timeout: 120_000 },
  async () => {
    const log = type('task', 'log', 'T1', '-f');
    const all = type('task', 'wait', 'T1', 'T2', '--json');
    const any = type('task', 'wait', 'T2', 'T1', '--any');
    await until(() => log.said.out.includes('First try.'), 'the first session is followed');
    copyFileSync(second, script);
    // The script of an agent is part of what was adopted.
    const { working } = await world.ask<{ working: { sha256: string } }>('runbook_rules');
    await world.ask('runbook_adopt', { accept_rules: working.sha256 });
    writeFileSync(begin, '');
    await until(() => log.said.out.includes(`▸ Bash  while [ ! -e ${go} ]`), 'the second session is followed');

    const [first = '', fixer = ''] = await agentIds();
    // A commit in a sandbox is synced a moment later.
    await until(async () => (await baton('task', 'diff', 'T1')).out.includes('2 commits'), 'both commits are there');
    const shown = await baton('task', 'diff', 'T1');
    expect(shown).toMatchObject({ code: 0, err: '' });
    const lines = shown.out.split('\n');
    expect(lines[0]).toMatch(
      /^T1 on \S+ since it left the main branch: 2 commits, 1 file, \+1 -0 \([0-9a-f]{12}\.\.[0-9a-f]{12}\)$/,
    );
    expect(lines.slice(1, 3)).toEqual(['  A a.txt  +1 -0', '']);
    expect(lines).toContain('+good');
    expect(shown.out).toMatch(
      /\nOnly commits are shown\. A session works in \/\S+, which may have uncommitted changes\.\n$/,
    );
    expect((await baton('task', 'diff', 'T1', '--session', first.slice(0, 8))).out).toContain('\n+bad\\u001b[31m\n');
    const session = await baton('task', 'diff', 'T1', '--session', fixer, '--stat', '--json');
    expect(JSON.parse(session.out)).toMatchObject({ of: 'session', commits: 1, total: { additions: 1, deletions: 1 } });
    expect((await baton('task', 'diff', 'T1', '--file', 'none.txt')).out).toContain(
      'The commits change none of these files.',
    );

    await world.restart();
    writeFileSync(go, '');
    await until(async () => (await baton('merge', 'T1')).code === 0, 'it is merged');
    expect(await any.code).toBe(0);
    expect(any.said.out).toMatch(/^ID .*\nT2 +task +not done +IMPLEMENTATION\nT1 +task +done +COMPLETED\n$/);
    expect(await log.code).toBe(0);
    const [start, ...sessions] = log.said.out.split(/^(?=━━ )/m);
    expect(start?.trim()).toBe('');
    expect(sessions.map((part) => part.split('\n')[0]?.replaceAll(/[0-9a-f]{8,12}|, 20.*Z/g, '*'))).toEqual([
      '━━ coder **',
      '━━ coder * ended: done',
      '━━ check test: failed, exit code 3, of **',
      '━━ fixer: coder **',
      '━━ coder * ended: done',
      '━━ check test: passed, of **',
      '━━ judge **',
      '━━ judge * ended: done',
      '━━ merge: merged as **',
    ]);
    expect(log.said.out).toContain('\n▸ Write  a.txt  +1 -0\n');
    expect(log.said.out).toMatch(
      /, exit code 3, .*\n {4}a\.txt is bad\n━ .* CI_PENDING → IMPLEMENTATION: check failed: test\n/,
    );

    await baton('task', 'cancel', 'T2', '--reason', 'not now');
    expect(await all.code).toBe(1);
    expect(JSON.parse(all.said.out)).toMatchObject({ tasks: [{ state: 'done' }, { state: 'cancelled' }] });
  },
);

describe('afterwards', () => {
  it('task diff shows what was merged', async () => {
    const { out } = await baton('task', 'diff', 'T1');
    expect(out).toMatch(/^T1 on \S+ as merged: 1 commit, 1 file, \+1 -0 /);
    expect(out).toContain('\n+good\n');
    expect(await baton('task', 'diff', 'T2')).toMatchObject({ code: 1, err: expect.stringContaining('no commit yet') });
  });

  it('task_diff names the sessions, and session_view what each reported, beside what was measured', async () => {
    const { sessions } = await world.ask<ResultOf<'task_diff'>>('task_diff', { task_id: 'T1', stat: true });
    expect(sessions.map(({ epoch, head }) => [epoch, head !== null])).toEqual([
      [1, true],
      [2, true],
      [3, true],
    ]);
    const first = await world.ask<ResultOf<'session_view'>>('session_view', { task_id: 'T1', epoch: 1 });
    expect(first).toMatchObject({
      agent_ids: [sessions[0]?.agent_id],
      how: 'completed',
      measured: { base: sessions[0]?.base, head: sessions[0]?.head, commits: 1 },
      said: [{ what: 'record' }, { what: 'exit' }],
      checks: [{ name: 'test', outcome: 'failed', exit_code: 3, output: 'a.txt is bad' }],
      claims: [
        { about: 'outcome', said: 'completed', differs: false },
        { about: 'files', said: '1 file: a.txt', measured: '1 file: a.txt', differs: false },
        { about: 'commit', differs: false },
        { about: 'tests', said: null, measured: 'test failed (exit code 3)' },
      ],
    });
    expect(await world.call('session_view', { task_id: 'T1', epoch: 9 })).toMatchObject({
      error: { code: 'no-such-session' },
    });
  });

  it('a session cannot read the change of another task', async () => {
    await world.ask('task_create', { task_id: 'T3', title: 'z' });
    const { token } = await world.ask<{ token: string }>('task_claim', { task_id: 'T3', as: 'ada' });
    expect(await world.call('task_diff', { task_id: 'T1' }, token)).toMatchObject({ error: { code: 'wrong-task' } });
    expect(await world.call('task_diff', { task_id: 'T3' }, token)).toMatchObject({ error: { code: 'no-commit-yet' } });
  });

  it('task log shows the last lines, the client’s own lines, or JSON', async () => {
    const whole = (await baton('task', 'log', 'T1')).out;
    expect(whole).toMatch(/^━━ judge \S+, .*, done$/m);
    expect((await baton('task', 'log', 'T1', '-n', '3')).out).toBe(whole.split('\n').slice(-4).join('\n'));
    expect((await baton('task', 'log', 'T1', '--raw')).out).toMatch(/^\{"type":"assistant"/m);
    const parts = (await baton('task', 'log', 'T1', '--json')).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(new Set(parts.map(({ kind }) => kind))).toEqual(new Set(['session', 'line', 'note', 'check']));
    expect((await baton('task', 'log', 'T9')).err).toContain('no task T9');
  });

  it('agent logs are for people, and as printed with --raw and --json', async () => {
    const [id = ''] = await agentIds();
    const readable = (await baton('agent', 'logs', id)).out;
    expect(readable).toMatch(/\nFirst try\.\n▸ Bash {2}while .*\n▸ Write {2}a\.txt {2}\+1 -0\n/);
    expect((await baton('agent', 'logs', id, '-n', '2')).out).toBe(readable.split('\n').slice(-3).join('\n'));
    const raw = (await baton('agent', 'logs', id, '--raw')).out.trim().split('\n');
    // Notes about the sandbox come before the agent's own lines.
    const own = raw.find((line) => line.startsWith('{')) ?? '';
    expect(JSON.parse(own)).toMatchObject({ type: 'system', subtype: 'init' });
    const lines = (await baton('agent', 'logs', id, '--json')).out.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).line)).toEqual(raw);
  });

  it('a shell completes their ids', async () => {
    const words = async (...typed: string[]): Promise<string> =>
      (await baton('completion', '--words', '--', ...typed)).out;
    expect(await words('task', 'diff', '')).toBe('T1\nT2\nT3\n');
    expect(await words('task', 'log', '')).toBe('T1\nT2\nT3\n');
    expect(await words('task', 'wait', 'T1', 'T')).toBe('T1\nT2\nT3\n');
    expect(await words('task', 'diff', 'T1', '')).toBe('');
  });

  it('task wait ends with the time, and with a task that needs a person', async () => {
    expect(await baton('task', 'wait', 'T3', '--timeout', '1ms')).toMatchObject({
      code: 1,
      out: 'ID  KIND  STATE     AT              NEXT\nT3  task  not done  IMPLEMENTATION\n',
    });
    await world.ask('task_create', { task_id: 'T4', title: 'z' });
    await world.ask('task_update', { task_id: 'T4', status: 'blocked', notes: 'no disk' });
    expect(await baton('task', 'wait', 'T1', 'T4')).toMatchObject({ code: 3, out: expect.stringContaining('no disk') });
    expect(await baton('task', 'wait', 'T9')).toMatchObject({ code: 1, err: expect.stringContaining('no task T9') });
    expect((await baton('task', 'wait', 'T1', '--timeout', 'soon')).code).toBe(2);
  });
});
