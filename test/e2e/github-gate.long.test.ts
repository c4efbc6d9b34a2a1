import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { GithubScene } from '../github/github-scene.ts';

let scene: GithubScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

const MS = { timeout: 300_000 };

describe('a workflow whose gate is at GitHub', MS, () => {
  it("waits for GitHub's checks of each head, without a webhook, and a draft is ready when it is merged", async () => {
    scene = new GithubScene('draft = true', (toml) =>
      `${toml}\n[[ci.required]]\nname = "build"\n`.replace('method = "squash"', 'method = "merge"'),
    );
    const { github } = scene;
    const looked = new Map<string, number>();
    github.fault = ({ path }) => {
      const sha = /actions\/runs\?head_sha=(\w+)/.exec(path)?.[1];
      if (sha === undefined) return undefined;
      const times = (looked.get(sha) ?? 0) + 1;
      looked.set(sha, times);
      const run = { kind: 'workflow_runs', name: 'build', head_sha: sha } as const;
      if (times === 1) github.runs.push({ ...run, status: 'in_progress', conclusion: null });
      else github.runs.push({ ...run, status: 'completed', conclusion: 'success' });
      return undefined;
    };
    await scene.begin();
    const before = github.git('rev-parse', 'main');
    const id = await scene.run('issue', 'Read durations back');
    const [end] = await scene.settled([id], 150_000);
    expect(end).toMatchObject({ is: 'closed' });
    const story = await scene.story(id);
    const checks = story
      .filter(({ type }) => type === 'CheckFinished')
      .map(({ data }) => `${String(data['name'])} ${String(data['outcome'])}`);
    // The first head fails here before GitHub has reported on it.
    expect(checks.filter((each) => each === 'build passed')).toHaveLength(2);
    expect(checks).toContain('test failed');
    expect(story.find(({ type }) => type === 'PullRequestRequested')?.data['draft']).toBe(true);
    expect(github.count(/^POST \/graphql$/)).toBe(1);
    const sha = end?.view.merge_sha ?? '';
    expect(github.git('log', '-1', '--format=%P', sha)).toBe(`${before} ${scene.pull.head}`);
    expect(scene.git('rev-parse', 'main')).toBe(sha);
  });
});

describe('a merge that GitHub refuses', MS, () => {
  it('opens a decision; if it is cancelled, the pull request is closed, and reopened with the task', async () => {
    scene = new GithubScene();
    const { github } = scene;
    const rule = 'At least 1 approving review is required by reviewers with write access.';
    github.fault = ({ method }) => (method === 'PUT' ? [405, { message: rule }] : undefined);
    await scene.begin();
    const id = await scene.run('issue', 'Read durations back');
    const [waits] = await scene.settled([id], 150_000);
    expect(waits).toMatchObject({ is: 'waits', phase: 'BLOCKED' });
    expect(waits?.because).toContain(rule);
    expect(scene.pull.state).toBe('open');

    await scene.ask('task_cancel', { task_id: id, reason: 'not now' });
    await until(() => scene?.pull.state === 'closed', 'it is closed', 30_000);
    await until(() => scene?.pull.comments.length === 1, 'and it says why', 30_000);
    expect(scene.pull.comments).toEqual([`The task ${id} was cancelled: not now`]);

    // A push to main right before the merge breaks what was checked.
    github.fault = () => undefined;
    github.beforeMerge = () => void github.pushByHand('main', 'broken.test.js', 'throw new Error("broken by hand");\n');
    await scene.ask('task_reinstate', { task_id: id, reason: 'now' });
    await until(async () => (await scene?.standing(id))?.view.merge_sha !== null, 'it is merged', 120_000);
    const story = await scene.story(id);
    const published = story.filter(({ type }) => type === 'PullRequestPublished');
    expect(published.map(({ data }) => data['how'])).toContain('reopened');
    expect(story.findLast(({ type }) => type === 'MergeFinished')?.data).toMatchObject({
      outcome: 'merged',
      merge_sha: scene.pull.merge_commit_sha,
      reason: 'check failed on the merged tree: test',
    });
    const asked = story.findLast(({ type }) => type === 'DecisionOpened');
    expect(asked?.data).toMatchObject({
      source: 'merge',
      title: expect.stringContaining('The main branch needs attention'),
    });
    await until(
      async () => (await scene?.phases(id))?.at(-1) === 'COMPLETED (session)',
      'it is closed all the same',
      60_000,
    );
  });

  it('is accepted as done if a person has merged it', async () => {
    scene = new GithubScene();
    const { github } = scene;
    let refusals = 1;
    github.fault = ({ method }) =>
      method === 'PUT' && refusals-- > 0
        ? [405, { message: 'Changes must be made through the merge queue' }]
        : undefined;
    await scene.begin();
    const id = await scene.run('issue', 'Read durations back');
    const [waits] = await scene.settled([id], 150_000);
    expect(waits?.because).toContain('merge queue');
    const sha = github.mergeByHand(scene.pull);
    const { decisions } = await scene.ask<{ decisions: { id: string }[] }>('decision_list');
    await scene.ask('decision_resolve', { id: decisions[0]?.id, option: 1 });
    const [end] = await scene.settled([id], 150_000);
    expect(end).toMatchObject({ is: 'closed', view: { merge_sha: sha } });
    expect(scene.git('rev-parse', 'main')).toBe(sha);
    expect(github.count(/^PUT /)).toBe(1);
  });
});
