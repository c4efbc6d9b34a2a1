import { afterEach, describe, expect, it } from 'vitest';
import { GithubScene } from '../github/github-scene.ts';

let scene: GithubScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

describe('a workflow of a repository at GitHub', () => {
  it('has a pull request, which every round brings up to date, and GitHub merges', { timeout: 120_000 }, async () => {
    scene = new GithubScene();
    const { github } = scene;
    await scene.begin();
    const before = github.git('rev-parse', 'main');
    const id = await scene.run('issue', 'Read durations back');
    const [end] = await scene.settled([id], 100_000);
    expect(end).toMatchObject({ is: 'closed' });

    const sha = end?.view.merge_sha ?? '';
    expect(scene.pull).toMatchObject({ state: 'closed', merge_commit_sha: sha, draft: false, merged_by: null });
    expect(github.git('rev-parse', 'main')).toBe(sha);
    expect(github.git('rev-parse', `${sha}^`)).toBe(before);
    expect(github.git('log', '-1', '--format=%s', sha)).toBe(`task: ${id} — Read durations back (#41)`);
    expect(github.git('log', '-1', '--format=%B', sha)).toContain(`Baton-Task: ${id}`);
    // What is here follows what is there, and nothing is left of the branch in either place.
    expect(scene.git('rev-parse', 'main')).toBe(sha);
    expect(scene.git('branch', '--list', 'feature/*')).toBe('');
    expect(github.git('branch', '--list', 'feature/*')).toBe('');
    expect(scene.pull.body).toContain('Mended in the last round');

    expect(scene.pull.comments).toHaveLength(1);
    expect(scene.pull.comments[0]).toMatch(
      new RegExp(`^.${id}. is done, merged as ${sha}.\\n(?:.*\\n)*- Review rounds: 2\\n`),
    );

    const story = await scene.story(id);
    const published = story.filter(({ type }) => type === 'PullRequestPublished');
    expect(published.map(({ data }) => [data['number'], data['how']])).toEqual([
      [41, 'opened'],
      [41, 'updated'],
      [41, 'updated'],
    ]);
    const heads = story.filter(({ type }) => type === 'ChecksRequested').map(({ data }) => data['head']);
    expect(published.map(({ data }) => data['head'])).toEqual(heads);
    expect(story.find(({ type }) => type === 'MergeRequested')?.data['pull']).toEqual({
      repository: 'owner/sample',
      remote: 'origin',
    });
    expect(story.findLast(({ type }) => type === 'HandoffDelivered')?.data['xml']).toContain(
      '<pr_url>https://github.com/owner/sample/pull/41</pr_url>',
    );
    expect(github.count(/^POST .*\/pulls$/)).toBe(1);
    expect(github.count(/^PUT .*\/merge$/)).toBe(1);
  });
});
