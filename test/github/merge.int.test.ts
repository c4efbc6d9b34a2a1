import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inLongLane, someOf } from '../lanes.ts';
import { PublishedBranch } from './published-branch.ts';

let scene: PublishedBranch;
beforeEach(async () => {
  scene = await new PublishedBranch().begin();
  scene.commit('2\n');
});
afterEach(() => scene.end());

const MS = { timeout: 60_000 };
const PUT = /^PUT .*\/merge$/;

describe('a pull request that is merged', MS, () => {
  it.each(someOf(['squash', 'merge'] as const, 0))(
    '%s: GitHub merges it, and the local main follows',
    async (method) => {
      await scene.requestAndPublish(true);
      const before = scene.git('rev-parse', 'main');
      expect(scene.pull.draft).toBe(true);
      const ended = await scene.merge(method);
      const sha = scene.pull.merge_commit_sha;
      expect(ended).toEqual({ outcome: 'merged', base: before, merge_sha: sha });
      expect(scene.git('rev-parse', 'main')).toBe(sha);
      expect(scene.git('log', '-1', '--format=%s%n%b', 'main')).toContain('task: A — do it (#41)\nBaton-Task: A');
      expect(scene.github.said.find(({ method: verb }) => verb === 'PUT')?.body).toMatchObject({
        sha: scene.pull.head,
        merge_method: method,
      });
    },
  );

  inLongLane(() => {
    it('is merged once even if the response is lost', async () => {
      await scene.requestAndPublish();
      scene.github.afterwards = ({ method }) => method === 'PUT';
      expect(await scene.merge()).toMatchObject({ outcome: 'merged', merge_sha: scene.pull.merge_commit_sha });
      expect(scene.github.count(PUT)).toBe(1);
    });
  });

  inLongLane(() => {
    it('is repeated if main moved, and requested again if GitHub is not ready yet', async () => {
      await scene.requestAndPublish();
      const answers = [
        [405, { message: 'Base branch was modified. Review and try the merge again.' }] as const,
        [405, { message: 'Pull Request is not mergeable' }] as const,
      ];
      scene.github.fault = ({ method }) => (method === 'PUT' ? answers.shift() : undefined);
      expect(await scene.merge()).toMatchObject({ outcome: 'merged' });
      expect(scene.github.count(PUT)).toBe(3);
    });

    it('does not change a local main branch with its own commits', async () => {
      await scene.requestAndPublish();
      scene.git('switch', '--quiet', 'main');
      const own = scene.scratch.commit(scene.repo, { mine: '1' });
      scene.git('switch', '--quiet', 'feature/a');
      const merge_sha = expect.stringMatching(/^[0-9a-f]{40}$/);
      expect(await scene.merge()).toMatchObject({ outcome: 'merged', merge_sha });
      expect(scene.git('rev-parse', 'main')).toBe(own);
    });
  });
});

describe('a pull request that cannot be merged', MS, () => {
  it('goes to the fixer if it conflicts, with the files', async () => {
    await scene.requestAndPublish();
    const onto = scene.github.pushByHand('main', 'a', 'another\n');
    expect(await scene.merge()).toEqual({ outcome: 'conflict', base: onto, reason: 'conflict', files: ['a'] });
    expect(scene.github.count(PUT)).toBe(0);
  });

  inLongLane(() => {
    it('opens a decision if it was pushed to, closed, or merged at another head by others', async () => {
      await scene.requestAndPublish();
      const head = scene.git('rev-parse', 'feature/a');
      scene.github.pushByHand('feature/a', 'theirs', 'work');
      const moved = await scene.merge();
      expect(moved?.reason).toMatch(/another commit was pushed to its branch/);
      scene.github.mergeByHand(scene.pull);
      expect((await scene.merge())?.reason).toMatch(/was merged at GitHub by octocat/);
      Object.assign(scene.pull, { merge_commit_sha: null, head });
      expect((await scene.merge())?.reason).toMatch(/was closed at GitHub/);
      expect(scene.github.count(PUT)).toBe(0);
    });

    it('waits while it is not at GitHub yet, and is refused if it never arrives', async () => {
      scene.request();
      expect(await scene.merge()).toBeUndefined();
      await scene.publish();
      scene.commit('3\n');
      expect((await scene.merge())?.reason).toMatch(/is not at GitHub/);
    });
  });

  it('is refused if the remote is at another repository: the agent would choose what it is checked with', async () => {
    await scene.requestAndPublish();
    const others = ['https://github.com/eve/sample.git', 'git@evil.example:owner/sample.git', 'file:///srv/evil.git'];
    for (const url of others) {
      scene.git('remote', 'set-url', 'origin', url);
      expect((await scene.merge())?.reason).toMatch(/the remote 'origin' is not at owner\/sample/);
    }
    expect(scene.github.count(PUT)).toBe(0);
  });

  inLongLane(() => {
    it('is not reported as merged if the commit is not on the main branch', async () => {
      await scene.requestAndPublish();
      scene.github.afterwards = ({ method }) => {
        if (method === 'PUT') scene.git('remote', 'set-url', 'origin', 'https://github.com/eve/sample.git');
        return false;
      };
      expect(await scene.merge()).toMatchObject({
        outcome: 'refused',
        reason: expect.stringMatching(/cannot fetch that commit/),
      });
      expect(scene.github.count(PUT)).toBe(1);
    });

    it('is refused in GitHub’s words, at once', async () => {
      await scene.requestAndPublish();
      scene.github.fault = ({ method }) =>
        method === 'PUT' ? [405, { message: 'Required status check "ci" is expected.' }] : undefined;
      expect((await scene.merge())?.reason).toContain('Required status check "ci" is expected.');
      expect(scene.github.count(PUT)).toBe(1);
    });
  });
});
