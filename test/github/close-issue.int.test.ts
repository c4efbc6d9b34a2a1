import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inLongLane } from '../lanes.ts';
import type { FakeIssue } from './fake-github.ts';
import { PublishedBranch } from './published-branch.ts';

let scene: PublishedBranch;
let issue: FakeIssue;
beforeEach(async () => {
  scene = await new PublishedBranch().begin();
  issue = scene.github.write(12, 'Read durations back');
});
afterEach(() => scene.end());

const MS = { timeout: 60_000 };
const ONCE = ['A is done.\n\n<!-- baton: A -->'];

describe('the issue of a closed workflow', MS, () => {
  it('gets one comment from two daemons', async () => {
    expect(await scene.closeIssue(12, false)).toMatchObject({ command: { outcome: 'closed' } });
    expect(await scene.closeIssue(12)).toMatchObject({ command: { outcome: 'was-closed' } });
    expect(issue).toMatchObject({ state: 'closed', comments: ONCE });
    expect(scene.github.count(/^PATCH /)).toBe(1);
  });

  inLongLane(() => {
    it('gets one comment and is closed, even if the responses are lost', async () => {
      const unheard = [/^POST .*\/comments$/, /^PATCH /];
      scene.github.afterwards = ({ method, path }) => {
        const isUnheard = unheard[0]?.test(`${method} ${path}`) === true;
        if (isUnheard) unheard.shift();
        return isUnheard;
      };
      expect(await scene.closeIssue(12)).toMatchObject({
        command: { close_id: 'i1', outcome: 'was-closed', reason: null },
      });
      expect([unheard, issue]).toMatchObject([[], { state: 'closed', state_reason: 'completed', comments: ONCE }]);
      expect(scene.state.effects.size).toBe(0);
    });

    it('stays closed if its pull request closed it, and gets the comment', async () => {
      issue.state = 'closed';
      expect(await scene.closeIssue(12)).toMatchObject({ command: { outcome: 'was-closed' } });
      expect([issue.comments, scene.github.count(/^PATCH /)]).toEqual([ONCE, 0]);
    });

    it('opens a decision if GitHub refuses, or gh is missing', async () => {
      scene.github.fault = ({ method }) =>
        method === 'PATCH' ? [403, { message: 'Must have write access' }] : undefined;
      const refused = { outcome: 'failed', reason: expect.stringContaining('Must have write access') };
      expect(await scene.closeIssue(12, false)).toMatchObject({ command: refused });
      scene.gh.remove();
      const missing = { outcome: 'failed', reason: expect.stringContaining('gh, the command line of GitHub') };
      expect(await scene.closeIssue(12)).toMatchObject({ command: missing });
      expect(issue).toMatchObject({ state: 'open', comments: ONCE });
    });

    it('opens a decision if it is gone', async () => {
      const gone = { outcome: 'failed', reason: expect.stringContaining('Not Found') };
      expect(await scene.closeIssue(99)).toMatchObject({ command: gone });
    });
  });
});
