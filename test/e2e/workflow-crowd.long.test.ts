import { globSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { CrowdScene } from '../processes/crowd-scene.ts';
import { isLongRun } from '../processes/long-run.ts';
import { testsAt } from '../processes/tests-at.ts';

let scene: CrowdScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

const COUNT = isLongRun ? 20 : 5;

describe(`${COUNT} workflows at once, on the same lines of the same files`, () => {
  it('are all merged, one after the other, and main is never broken', { timeout: COUNT * 120_000 }, async () => {
    const crowd = new CrowdScene();
    scene = crowd;
    await crowd.start();
    const first = crowd.git('rev-parse', 'main');
    const words = Array.from({ length: COUNT }, (_, i) => `word${i}`);
    const ids = await Promise.all(words.map(async (word) => crowd.run('issue', `Add ${word}`)));
    const reasons = await crowd.untilClosed(ids, COUNT * 100_000);
    // Every decision has a reason that people understand.
    for (const reason of reasons) expect(reason).toMatch(/too many rounds|is blocked/);
    const merges = crowd.git('rev-list', '--first-parent', '--reverse', `${first}..main`).split('\n');
    expect(merges).toHaveLength(COUNT);
    for (const sha of merges) expect(testsAt(crowd.repository, sha)).toBe('passed');
    for (const word of words) expect(crowd.git('show', 'main:src/words.js')).toContain(`'${word}'`);
    // The tasks interfered with each other.
    const outcomes = (await crowd.entries()).flatMap(({ type, data }) =>
      type === 'MergeFinished' ? [String(data['outcome'])] : [],
    );
    expect(outcomes).toContain('conflict');
    expect(outcomes.filter((outcome) => outcome === 'merged')).toHaveLength(COUNT);
    // No commit is lost: Baton's own repository keeps every session's commits, even after its branch was removed.
    const measured = (await crowd.entries()).filter(({ type }) => type === 'SessionMeasured');
    const [own = ''] = globSync('repositories/*.git', { cwd: crowd.scene.stateDir });
    const reachable = new Set(
      crowd.git(`--git-dir=${join(crowd.scene.stateDir, own)}`, 'rev-list', '--all').split('\n'),
    );
    for (const { data } of measured) expect(reachable).toContain(data['head']);
    expect(crowd.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
  });
});
