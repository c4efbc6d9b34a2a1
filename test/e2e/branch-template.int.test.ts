import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunScene, type Shown } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';

const world = new RunScene();
const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
    encoding: 'utf8',
  }).trim();

/** A runbook with this branch template, whose agents do nothing. */
const named = (branch: string): void =>
  world.write(`
    limits = { kill_after = "300ms" }
    [workspace]
    branch = "${branch}"
    [agents.coder]
    run = "sleep 600"
    on_dead = "fail"
    requires = []
    [workers.w]
    phases = ["IMPLEMENTATION"]
    run = { agent = "coder" }`);

beforeAll(async () => {
  named('agents/${task.epic_id}/${task.id}-${task.slug}');
  await world.start();
}, 60_000);
afterAll(async () => world.end());

/** The agent of the nth session, once it runs: the previous one may take a moment to exit. */
async function running(nth: number): Promise<Shown> {
  const find = async () => (await world.entries()).filter(({ type }) => type === 'AgentStarted')[nth - 1];
  await until(async () => (await find()) !== undefined, 'the agent runs', 60_000);
  return world.ask('agent_show', { id: String((await find())?.data['agent_id']) });
}

async function prepared(task_id: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const all = (await world.entries()).filter(
    ({ type, data }) => type === 'SessionPrepared' && data['task_id'] === task_id,
  );
  return all.map(({ data }) => data);
}

async function end({ id }: Shown, task_id: string): Promise<void> {
  await world.ask('agent_kill', { id, reason: 'enough' });
  const isBlocked = async () => (await world.ask<{ phase: string }>('task_get', { task_id })).phase === 'BLOCKED';
  await until(isBlocked, 'it is over', 60_000);
}

describe('the branch template of a project', () => {
  it("names a session's branch, which is recorded before git creates it, and the fence uses it", async () => {
    await world.ask('task_create', { task_id: 'P0.1', title: 'One thing' });
    const agent = await running(1);
    const types = await world.types();
    expect(types.indexOf('BranchNamed')).toBeLessThan(types.indexOf('SessionPrepared'));
    const [first] = await prepared('P0.1');
    expect(first).toMatchObject({ branch: 'agents/e000/p0-1-one-thing' });
    const workspace = String(first?.['workspace']);
    expect(git(workspace, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agents/e000/p0-1-one-thing');
    await end(agent, 'P0.1');
    const ada = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
    const tooLate = ['commit', '-q', '--allow-empty', '-m', 'too late'];
    const late = spawnSync('git', ['-C', workspace, ...ada, ...tooLate], { encoding: 'utf8' });
    expect([late.status, late.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('agents/e000/p0-1-one-thing'),
    ]);
    expect(late.status).not.toBe(0);
  });

  it('applies only to later branches: the next session continues on the existing one', async () => {
    named('work/${task.n}-${task.slug}');
    await world.ask('task_unblock', { task_id: 'P0.1', reason: 'again' });
    const agent = await running(2);
    const [first, second] = await prepared('P0.1');
    expect(second).toMatchObject({ branch: first?.['branch'], workspace: first?.['workspace'] });
    const { worktrees } = await world.ask<{ worktrees: object[] }>('worktree_list');
    expect(worktrees).toEqual([expect.objectContaining({ task_id: 'P0.1', branch: 'agents/e000/p0-1-one-thing' })]);
    await end(agent, 'P0.1');
  });

  it('names the worktrees of claims by hand, which keep their names too', async () => {
    const claim = async () => {
      const { token } = await world.ask<{ token: string }>('task_claim', { task_id: 'P0-1', as: 'ada' });
      return token;
    };
    await world.ask('task_create', { task_id: 'P0-1', title: 'One thing', phase: 'REVIEW' });
    const token = await claim();
    expect(await world.call('task_worktree', {}, token)).toMatchObject({
      ok: true,
      result: { branch: 'work/2-one-thing' },
    });
    named('agents/e000/${task.id}-${task.slug}');
    expect(await world.call('task_release', { task_id: 'P0-1', reason: 'later' }, token)).toMatchObject({ ok: true });
    expect(await world.call('task_worktree', {}, await claim())).toMatchObject({
      result: { branch: 'work/2-one-thing' },
    });
  });

  it("never gives one task's branch to another", async () => {
    await world.ask('task_create', { task_id: 'p0.1', title: 'One thing', phase: 'REVIEW' });
    const { token } = await world.ask<{ token: string }>('task_claim', { task_id: 'p0.1', as: 'bob' });
    const refused = { code: 'branch-taken', message: "branch 'agents/e000/p0-1-one-thing' belongs to P0.1" };
    expect(await world.call('task_worktree', {}, token)).toMatchObject({ ok: false, error: refused });
  });

  it('is not used by reconciliation, which uses the recorded name', async () => {
    const [first] = await prepared('P0.1');
    rmSync(String(first?.['workspace']), { recursive: true });
    const { findings } = await world.ask<{ findings: object[] }>('reconcile');
    expect(findings).toEqual([
      expect.objectContaining({
        kind: 'worktree-missing',
        task_id: 'P0.1',
        action: { do: 'make-worktree', branch: 'agents/e000/p0-1-one-thing' },
      }),
    ]);
  });
});
