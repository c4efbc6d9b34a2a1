import { afterEach, describe, expect, it } from 'vitest';
import { GithubScene } from '../github/github-scene.ts';
import { isLongLane } from '../lanes.ts';

let scene: GithubScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

describe('a workflow of a repository at GitHub', () => {
  it('has a pull request, which every round brings up to date, and GitHub merges', { timeout: 120_000 }, async () => {
    scene = new GithubScene();
    const { github } = scene;
    if (!isLongLane) rightAtOnce(scene);
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
    expect(scene.pull.body.includes('Mended in the last round')).toBe(isLongLane);

    expect(scene.pull.comments).toHaveLength(1);
    expect(scene.pull.comments[0]).toMatch(
      new RegExp(`^.${id}. is done, merged as ${sha}.\\n(?:.*\\n)*- Review rounds: ${isLongLane ? 2 : 1}\\n`),
    );

    const story = await scene.story(id);
    const published = story.filter(({ type }) => type === 'PullRequestPublished');
    const rounds = isLongLane ? ['opened', 'updated', 'updated'] : ['opened'];
    expect(published.map(({ data }) => [data['number'], data['how']])).toEqual(rounds.map((how) => [41, how]));
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

/** The implementer makes no mistake, so there is one round. A pull request that is brought up to date: `publish.int.test.ts`. */
function rightAtOnce(walked: GithubScene): void {
  walked.edit('agents/play.mjs', (text) =>
    text.replace('{ hour: 60_000, isStrict: false }', '{ hour: 3_600_000, isStrict: true }'),
  );
  walked.git('commit', '--quiet', '--all', '--message', 'an implementer who makes no mistake');
  walked.git('push', '--quiet', 'origin', 'main');
}
