import { afterEach, describe, expect, it } from 'vitest';
import { GithubScene } from '../github/github-scene.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { runCli } from '../run-cli.ts';

let scene: GithubScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

describe('a workflow of a repository at GitHub', () => {
  it(
    'begins with an issue, has a pull request that every round updates, and closes both',
    { timeout: 120_000 },
    async () => {
      scene = new GithubScene();
      const { github } = scene;
      const body = 'A duration that was written must be readable.';
      const issue = github.write(12, 'Read durations back', { body, labels: ['P1'] });
      // Without the issue's text the issue manager does not hand on.
      const reads = `grep -q '${body}' .baton/session/task.md && node`;
      scene.edit('agents/issue-manager.yaml', (text) => text.replace('- run: node', `- run: ${reads}`));
      scene.git('commit', '--quiet', '--all', '--message', 'an issue manager who reads');
      scene.git('push', '--quiet', 'origin', 'main');
      await scene.begin();
      const before = github.git('rev-parse', 'main');
      const id = '12';
      const place = { env: scene.scene.env, cwd: scene.repository };
      const run = ['run', 'issue', '--from-github', '#12', '--detach'];
      expect(await runCli([...run, '--json'], '', place)).toMatchObject({
        code: 0,
        out: expect.stringContaining('"kind":"workflow","id":"12","ids":["12"]'),
      });
      expect(await runCli(run, '', place)).toMatchObject({ code: 1, err: expect.stringContaining('12 is a workflow') });
      const [end] = await scene.settled([id], 100_000);
      expect(end).toMatchObject({ is: 'closed' });

      const sha = end?.view.merge_sha ?? '';
      expect(scene.pull).toMatchObject({ state: 'closed', merge_commit_sha: sha, draft: false, merged_by: null });
      expect(github.git('rev-parse', 'main')).toBe(sha);
      expect(github.git('rev-parse', `${sha}^`)).toBe(before);
      expect(github.git('log', '-1', '--format=%s', sha)).toBe(`task: ${id} — Read durations back (#41)`);
      expect(github.git('log', '-1', '--format=%B', sha)).toContain(`Baton-Task: ${id}`);
      // The local main follows GitHub's, and the branch is removed in both places.
      expect(scene.git('rev-parse', 'main')).toBe(sha);
      expect(scene.git('branch', '--list', 'feature/*')).toBe('');
      expect(github.git('branch', '--list', 'feature/*')).toBe('');
      expect(scene.pull.body.includes('Fixed in the last round')).toBe(true);

      expect(scene.pull.comments).toHaveLength(1);
      expect(scene.pull.comments[0]).toMatch(
        new RegExp(`^.${id}. is done, merged as ${sha}.\\n(?:.*\\n)*- Review rounds: 2\\n`),
      );

      // The issue is closed with the workflow, and only once.
      await until(async () => (await scene?.types())?.includes('GithubIssueClosed') === true, 'the issue is closed');
      expect(issue).toMatchObject({ state: 'closed', state_reason: 'completed' });
      expect(issue.comments).toEqual([
        expect.stringContaining(`\`12\` is done, merged as ${sha} through https://github.com/owner/sample/pull/41.`),
      ]);
      expect(issue.comments[0]).toMatch(/^- Tests added: \d+$/m);
      expect(scene.pull.body).toContain('Issue: https://github.com/owner/sample/issues/12\n');

      const story = await scene.story(id);
      expect(story[0]).toMatchObject({
        type: 'TaskCreated',
        data: { priority: 10, description: body, github_issue: { repository: 'owner/sample', number: 12 } },
      });
      expect(story.find(({ type }) => type === 'GithubIssueClosed')?.data).toMatchObject({
        outcome: 'closed',
        reason: null,
      });
      const published = story.filter(({ type }) => type === 'PullRequestPublished');
      const rounds = ['opened', 'updated', 'updated'];
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
    },
  );
});
