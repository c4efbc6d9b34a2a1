import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../api/client/client.ts';
import type { Daemon } from '../lifecycle.ts';
import { Scene, until } from '../running.cases.ts';
import { inLongLane } from '../../../test/lanes.ts';

let scene: Scene;
let daemon: Daemon;
let repository: string;
let client: Client;

beforeEach(async () => {
  scene = new Scene();
  repository = scene.makeRepository();
  await start();
});
afterEach(async () => {
  client.close();
  await daemon.stop();
  await scene.end();
});

describe('reconciling', () => {
  it('finds the claim of an ended process, and ends it only with apply', async () => {
    await ask('task_create', { task_id: 'A', title: 'x' });
    await ask('task_create', { task_id: 'B', title: 'x' });
    const dead = await startAndEnd('A');
    await ask('task_claim', { task_id: 'B', as: 'alive', pid: process.pid });
    const found = { kind: 'session-dead', task_id: 'A', safe: true };
    expect(await ask('reconcile', {})).toMatchObject({ findings: [found], applied: [] });
    expect(await ask('task_get', { task_id: 'A' })).toMatchObject({ claim: { holder: dead } });
    expect(await ask('reconcile', { apply: true })).toMatchObject({
      findings: [found],
      applied: ['ended the claim of epoch 1 on A'],
    });
    expect(await ask('task_get', { task_id: 'A' })).toMatchObject({ claim: null, endings: [{ how: 'expired' }] });
    expect(await ask('task_get', { task_id: 'B' })).toMatchObject({ claim: { holder: 'alive' } });
    expect(await ask('reconcile', { apply: true })).toEqual({ findings: [], applied: [] });
  });

  inLongLane(() => {
    it('finds reverted work, and opens a decision', async () => {
      await ask('task_create', { task_id: 'A', title: 'x' });
      git('commit', '-q', '--allow-empty', '-m', 'second');
      const sha = commitFile();
      await ask('thought_record', { ...RECORD, task_id: 'A', commit_sha: sha });
      await ask('task_update', { task_id: 'A', status: 'done' });
      expect(await ask('reconcile', {})).toEqual({ findings: [], applied: [] });
      // Without the words of `git revert`, only a comparison finds it.
      git('revert', '--no-commit', sha);
      git('commit', '-q', '-m', 'take it back');
      const found = { kind: 'commit-reverted', task_id: 'A', safe: false };
      expect(await ask('reconcile', {})).toMatchObject({ findings: [found], applied: [] });
      expect(await decisions()).toEqual([]);
      // With `apply`, it asks once and not a second time.
      const about = expect.stringMatching(/^asked about A: baton decision show [0-9a-f]{8}$/);
      expect(await ask('reconcile', { apply: true })).toMatchObject({ findings: [found], applied: [about] });
      expect(await ask('reconcile', { apply: true })).toMatchObject({ findings: [found], applied: [] });
      const [decision, ...others] = await decisions();
      expect(others).toEqual([]);
      expect(decision).toMatchObject({ source: 'reconcile', task_id: 'A', result: null });
      expect(decision?.context).toContain(`A is done, but commit ${sha.slice(0, 12)} was reverted on main`);
      expect(await ask('task_get', { task_id: 'A' })).toMatchObject({ status: 'done' });
      await ask('decision_resolve', { id: decision?.id, option: 1 });
      expect(await ask('task_get', { task_id: 'A' })).toMatchObject({ status: 'todo', phase: 'IMPLEMENTATION' });
      expect(await ask('reconcile', { apply: true })).toMatchObject({ applied: [] });
    });
  });

  it('notices `git revert` on the main branch by itself, and withdraws no other finding', async () => {
    const shas: string[] = [];
    for (const id of ['A', 'B', 'C']) {
      await ask('task_create', { task_id: id, title: 'x' });
      git('commit', '-q', '--allow-empty', '-m', `before ${id}`);
      shas.push(commitFile(id));
      await ask('thought_record', { ...RECORD, task_id: id, commit_sha: shas.at(-1) });
      await ask('task_update', { task_id: id, status: 'done' });
    }
    for (const [i, id] of ['A', 'B'].entries()) {
      git('revert', '--no-edit', shas[i] ?? '');
      await until(
        async () => (await decisions()).some(({ task_id }) => task_id === id),
        `the revert of ${id} is noticed`,
      );
    }
    expect((await decisions()).map(({ task_id, result }) => [task_id, result])).toEqual([
      ['A', null],
      ['B', null],
    ]);
  });

  it('lets an agent reinstate reverted work, and only that: git is compared when it asks', async () => {
    await ask('task_create', { task_id: 'A', title: 'x' });
    git('commit', '-q', '--allow-empty', '-m', 'second');
    const sha = commitFile();
    await ask('thought_record', { ...RECORD, task_id: 'A', commit_sha: sha });
    await ask('task_update', { task_id: 'A', status: 'done' });
    const token = readFileSync(join(scene.stateDir, 'worker.token'), 'utf8').trim();
    const record = { ...RECORD, task_id: 'A', commit_sha: sha, status: 'todo', notes: 'Previous PR reverted' };
    const reinstate = async () => client.forward('thought_record', record, { token });
    expect(await reinstate()).toMatchObject({ ok: false, error: { code: 'not-undone' } });
    git('revert', '--no-edit', sha);
    expect(await reinstate()).toMatchObject({ ok: true });
    expect(await ask('task_get', { task_id: 'A' })).toMatchObject({ status: 'todo', phase: 'IMPLEMENTATION' });
    expect((await decisions()).filter(({ source }) => source === 'reconcile')).toEqual([]);
    const { size } = (await ask('ledger_head', {})) as { size: number };
    for (let seq = 1; seq <= size; seq += 1) {
      const { type } = (await ask('entry_get', { seq })) as { type: string };
      const answer = await client.forward('entry_get', { seq }, { token });
      const isQuestion = /^Decision|^Notification/.test(type);
      expect(answer).toMatchObject(isQuestion ? { ok: false, error: { code: 'wrong-task' } } : { ok: true });
    }
    expect(await client.forward('entry_get', { seq: size + 1 }, { token })).toMatchObject({
      ok: false,
      error: { code: 'no-such-entry' },
    });
  });

  inLongLane(() => {
    it('opens decisions when a project is opened, and withdraws those that no longer apply', async () => {
      await ask('task_create', { task_id: 'A', title: 'x' });
      git('switch', '-q', '-c', 'feature/a');
      const sha = commitFile();
      git('switch', '-q', 'main');
      await ask('thought_record', { ...RECORD, branch: 'feature/a', task_id: 'A', commit_sha: sha });
      client.close();
      await daemon.stop();
      git('merge', '-q', '--no-ff', '-m', 'by hand', 'feature/a');
      await start();
      await until(async () => (await decisions()).length === 1, 'people are asked');
      const [decision] = await decisions();
      expect(decision?.context).toContain('A is in IMPLEMENTATION, but feature/a was merged into main');
      expect(decision?.options).toMatchObject([{ action: 'done', recommended: true }, { action: 'dismiss' }]);
      git('reset', '-q', '--hard', 'HEAD~1');
      expect(await ask('reconcile', { apply: true })).toEqual({ findings: [], applied: [] });
      // The main branch moving back is a separate question.
      expect((await decisions()).filter(({ source }) => source === 'reconcile')).toEqual([]);
    });
  });

  inLongLane(() => {
    it("recognises Baton's own merges, also if main changed the patch", async () => {
      write('f', 'one two three four five six seven'.split(' '));
      git('add', 'f');
      git('commit', '-q', '-m', 'a file');
      git('switch', '-q', '-c', 'feature/a');
      write('f', 'one two three four FIVE six seven'.split(' '));
      git('commit', '-q', '-a', '-m', 'work');
      const sha = git('rev-parse', 'HEAD');
      git('switch', '-q', 'main');
      // The surrounding lines have changed, so the same change has another patch id.
      write('f', 'one two THREE four five six seven'.split(' '));
      git('commit', '-q', '-a', '-m', 'meanwhile');
      await ask('task_create', { task_id: 'A', title: 'x', phase: 'READY_FOR_MERGE' });
      await ask('thought_record', { ...RECORD, branch: 'feature/a', task_id: 'A', commit_sha: sha });
      await ask('task_self_approve', { task_id: 'A', reason: 'nobody else is here' });
      await ask('merge_request', { task_id: 'A' });
      const isDone = async (): Promise<boolean> =>
        JSON.stringify(await ask('task_get', { task_id: 'A' })).includes('"status":"done"');
      await until(isDone, 'it is merged');
      git('branch', '-q', '-D', 'feature/a');
      // Later work has changed the file completely.
      write('f', 'nothing of that is left'.split(' '));
      git('commit', '-q', '-a', '-m', 'later');
      expect(await ask('reconcile', {})).toEqual({ findings: [], applied: [] });
    });
  });

  it('runs when a project is opened: sessions that died while the daemon was down lose their claims', async () => {
    await ask('task_create', { task_id: 'A', title: 'x' });
    const { end } = await claimByProcess('A');
    client.close();
    await daemon.stop();
    await end();
    await start();
    const isFree = async (): Promise<boolean> =>
      JSON.stringify(await ask('task_get', { task_id: 'A' })).includes('"claim":null');
    await until(isFree, 'the claim of the dead is ended');
    await until(() => logged().includes('"message":"reconciled"'), 'the log says so');
    expect(await ask('task_get', { task_id: 'A' })).toMatchObject({ endings: [{ epoch: 1, how: 'expired' }] });
  });

  it('is logged if the repository is missing', async () => {
    await ask('task_create', { task_id: 'A', title: 'x' });
    const { token } = (await ask('task_claim', { task_id: 'A', as: 'ada' })) as { token: string };
    client.close();
    await daemon.stop();
    execFileSync('rm', ['-rf', join(repository, '.git')]);
    await start();
    // A session's token names its project, so no repository is needed to find it.
    expect(await client.call('task_get', { task_id: 'A' }, { token })).toMatchObject({ ok: true });
    await until(() => logged().includes('cannot compare a project with git'), 'the log says so');
  });
});

interface Asked {
  readonly task_id: string | null;
  readonly result: unknown;
  readonly id: string;
  readonly context: string;
  readonly source: string;
  readonly options: readonly unknown[];
}

async function decisions(): Promise<readonly Asked[]> {
  return ((await ask('decision_list', {})) as { decisions: readonly Asked[] }).decisions;
}

const RECORD = {
  branch: 'main',
  tests_run: ['all'],
  summary: 'Done.',
  blockers: [],
  files_changed: ['a'],
  related_thought_records: [],
};

async function start(): Promise<void> {
  daemon = await scene.runDaemon();
  const token = { ofFolder: 'operator' } as const;
  const { stateDir, env } = scene;
  client = new Client({ stateDir, env, token, projectPath: repository, autostart: false, reachMs: 60_000 });
}

async function ask(operation: string, input: unknown): Promise<unknown> {
  const answer = await client.forward(operation, input);
  if (!answer.ok) throw new Error(`${operation}: ${answer.error.message}`);
  return answer.result;
}

/** Claims a task for a living process. `end` ends the process. */
async function claimByProcess(task_id: string): Promise<{ holder: string; end: () => Promise<void> }> {
  const child = spawn('sleep', ['600']);
  await once(child, 'spawn');
  const holder = `process ${child.pid}`;
  await ask('task_claim', { task_id, as: holder, pid: child.pid });
  return {
    holder,
    end: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function startAndEnd(task_id: string): Promise<string> {
  const { holder, end } = await claimByProcess(task_id);
  await end();
  return holder;
}

function git(...args: string[]): string {
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@t'];
  return execFileSync('git', ['-C', repository, ...who, ...args], { encoding: 'utf8' }).trim();
}

function write(name: string, lines: readonly string[]): void {
  writeFileSync(join(repository, name), `${lines.join('\n')}\n`);
}

function commitFile(name = 'a'): string {
  writeFileSync(join(repository, name), 'done\n');
  git('add', name);
  git('commit', '-q', '-m', 'work');
  return git('rev-parse', 'HEAD');
}

function logged(): string {
  return readFileSync(join(scene.stateDir, 'daemon.log'), 'utf8');
}
