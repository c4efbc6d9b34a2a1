import { describe, expect, it } from 'vitest';
import { inLongLane } from '../lanes.ts';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import { APPROVE, ForgedVerdict, REFUSE, RUN_TESTS } from '../attacks/forged-verdict.ts';

const bubblewrap = await probeBubblewrap();
const unless = bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`;

/** Attack 16: a reviewer runs the tests of the branch before it refuses, and they send the approval in its name. */
describe.skipIf(!bubblewrap.works)(`tests of a branch that approve it, in a sandbox${unless}`, () => {
  it('find nothing to send it with; an honest approval by tool calls asks nobody', { timeout: 170_000 }, async () => {
    const reviews = `${RUN_TESTS} if (readFileSync(CODE, 'utf8').includes('throw')) { ${APPROVE} } else { ${REFUSE} }`;
    await using attack = await ForgedVerdict.open({ mode: 'bubblewrap', unseparated: 'ask', reviews });
    const end = await attack.ended();
    expect([end?.is, end?.phase, end?.because]).toEqual(['closed', 'COMPLETED', null]);
    expect(attack.printed()).toContain('FOUND 0 tokens');
    expect(await attack.told('VerdictUnproven')).toEqual([]);
    expect(await attack.told('DecisionOpened')).toEqual([]);
    expect(JSON.stringify(await attack.scene.entries())).not.toMatch(/ResultSubmitted[^}]*FORGED/);
    // The refusal counted: what it asked for is on the main branch.
    expect(attack.scene.git('show', 'main:src/parse-duration.js')).toContain('throw');
  });
});

inLongLane(() => {
  describe('a reviewer without a sandbox', { timeout: 170_000 }, () => {
    it('is not trusted to approve: its tests could have sent the verdict, so a person is asked', async () => {
      await using attack = await ForgedVerdict.open({
        mode: 'none',
        unseparated: 'ask',
        reviews: `${RUN_TESTS} ${REFUSE}`,
      });
      const end = await attack.ended();
      expect([end?.is, end?.phase]).toEqual(['waits', 'REVIEW']);
      expect(end?.because).toContain('its client cannot prove who sent this verdict');
      expect(end?.because).toContain('summary: FORGED by the tests');
      expect(end?.because).toContain('review.unseparated = "accept"');
      const [asked, ...more] = await attack.told('DecisionOpened');
      expect(asked?.['options']).toContainEqual({
        action: 'approve',
        label: 'Confirm the approval',
        recommended: false,
      });
      expect(more).toEqual([]);
      expect(await attack.told('VerdictUnproven')).toMatchObject([{ because: 'client' }]);
    });

    it('asks about an honest approval, because its client shares a sandbox with the tests', async () => {
      await using attack = await ForgedVerdict.open({ mode: 'none', unseparated: 'ask', reviews: APPROVE });
      const end = await attack.ended();
      expect([end?.is, end?.phase]).toEqual(['waits', 'REVIEW']);
      expect(end?.because).toContain('no sandbox separates its client from the code that the session ran');
      expect(end?.because).toContain('summary: It does what the issue asks');
      const [, from = '', to = ''] = / ([0-9a-f]{12}) ([0-9a-f]{12})$/m.exec(end?.because ?? '') ?? [];
      expect(attack.scene.git('diff', '--name-only', from, to)).toContain('src/parse-duration.js');
    });

    it('approves without a question if the person accepts such approvals, which are marked', async () => {
      await using attack = await ForgedVerdict.open({ mode: 'none', unseparated: 'accept', reviews: APPROVE });
      const end = await attack.ended();
      expect([end?.is, end?.phase]).toEqual(['closed', 'COMPLETED']);
      expect(await attack.told('VerdictUnproven')).toMatchObject([{ because: 'shell', held: null }]);
      expect(await attack.told('DecisionOpened')).toEqual([]);
    });
  });
});
