import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { REAL_GIT } from '../processes/real-git.ts';

/**
 * Attack 6: a session moves the main branch itself. Git refuses it in the fenced worktree. If it bypasses the fence
 * with git's own path, or acts in the main checkout with a cleared environment, the moves are recorded, one decision
 * asks about both, and nothing is merged on top of them. In a sandbox it cannot move the branch at all
 * (`test/attacks/sandbox`).
 */
let scene: RunScene;
const git = (...args: string[]): string =>
  execFileSync('git', ['-C', scene.repository, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
    encoding: 'utf8',
  }).trim();

const ATTACK = `
- run: git -c user.name=e -c user.email=e@e commit -q --allow-empty -m evil
- run: "! git update-ref refs/heads/main HEAD 2>refused.txt"
- run: "! git -C ../.. -c user.name=e -c user.email=e@e commit -q --allow-empty -m evil 2>>refused.txt"
- run: "! git -c core.hooksPath=/dev/null update-ref refs/heads/main HEAD 2>>refused.txt"
- run: GIT -c core.hooksPath=/dev/null update-ref refs/heads/main HEAD
- run: while ! test -e ../../seen.txt; do sleep 0.05; done
- run: env -i GIT -C ../.. -c user.name=eve -c user.email=eve@example.org commit -q --allow-empty -m worse
- hang
`.replaceAll('GIT', REAL_GIT);

beforeAll(async () => {
  scene = new RunScene();
  scene.write(`
    [merge]
    method = "squash"
    [agents.thief]
    run = "scripted thief.yaml"
    sandbox = "none"
    [workers.w]
    tasks = ["EVIL"]
    run = { agent = "thief" }`);
  writeFileSync(join(scene.repository, 'thief.yaml'), ATTACK);
  git('add', '--all');
  git('commit', '-q', '-m', 'a runbook');
  git('switch', '-q', '-c', 'honest');
  writeFileSync(join(scene.repository, 'honest.txt'), 'work');
  git('add', '--all');
  git('commit', '-q', '-m', 'work');
  git('switch', '-q', 'main');
  await scene.start();
});
afterAll(async () => scene.end());

it('detects that a session moves the main branch, asks once, and merges nothing until a person has answered', async () => {
  const start = git('rev-parse', 'main');
  await scene.ask('task_create', { task_id: 'GOOD', title: 'Honest work', phase: 'READY_FOR_MERGE' });
  const record = { task_id: 'GOOD', branch: 'honest', commit_sha: git('rev-parse', 'honest'), summary: 'work' };
  const lists = { tests_run: [], blockers: [], files_changed: [], related_thought_records: [] };
  await scene.ask('thought_record', { ...record, ...lists });
  await scene.ask('task_create', { task_id: 'EVIL', title: 'The attack' });

  await until(async () => (await moves()).length === 2, 'the move past the fence is recorded');
  writeFileSync(join(scene.repository, 'seen.txt'), '');
  await until(async () => (await moves()).length === 3, 'the commit in the main checkout is recorded');
  const [first, second, third] = await moves();
  expect(first).toMatchObject({ branch: 'main', old: null, new: start });
  expect(second).toMatchObject({ old: start, fast_forward: true, sessions: [{ name: 'thief', task_id: 'EVIL' }] });
  expect(third).toMatchObject({ old: second?.['new'], new: git('rev-parse', 'main'), fast_forward: true });

  const refused = readFileSync(join(scene.repository, '.worktrees', 'evil-the-attack', 'refused.txt'), 'utf8');
  expect(refused.match(/moving refs\/heads\/main refused: it is the main branch/g)).toHaveLength(3);

  const { needs_you: asked } = await scene.ask<{ needs_you: Asked[] }>('status_get');
  expect(asked).toMatchObject([{ source: 'integrity', context: expect.stringMatching(/eve@example\.org[^]*thief/) }]);
  await scene.ask('task_self_approve', { task_id: 'GOOD', reason: 'nobody else is here' });
  await scene.ask('merge_request', { task_id: 'GOOD' });
  // Every merge first reads the main branch, and no merge has begun.
  expect(await types()).toContain('MergeRequested');
  await scene.ask('agent_kill', { id: third?.['sessions'][0].id, reason: 'caught' });
  await until(async () => (await types()).includes('AgentExited'), 'the session has ended');
  expect(await types()).not.toContain('MergePrepared');
  expect(await types()).not.toContain('MergeFinished');

  await scene.ask('decision_resolve', { id: asked[0]?.id, option: 1 });
  expect(await types()).not.toContain('MergePrepared');
  git('reset', '-q', '--hard', start);
  await until(async () => (await types()).includes('MergeFinished'), 'the merge goes on once main is back');
  expect(git('rev-list', '--count', `${start}..main`)).toBe('1');
}, 60_000);

interface Asked {
  readonly id: string;
  readonly source: string;
  readonly context: string;
}

// oxlint-disable-next-line typescript/no-explicit-any -- Whatever stands in the ledger.
async function moves(): Promise<Record<string, any>[]> {
  return (await scene.entries()).filter(({ type }) => type === 'MainMoved').map(({ data }) => data);
}

async function types(): Promise<string[]> {
  return (await scene.entries()).map(({ type }) => type);
}
