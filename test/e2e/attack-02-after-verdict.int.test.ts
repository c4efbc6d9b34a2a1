import { describe, expect, it } from 'vitest';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import { AfterVerdict } from '../attacks/after-verdict.ts';

const bubblewrap = await probeBubblewrap();
const unless = bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`;

/** Attack 2, after the verdict: a reviewer asks for changes, ends its session, and then commits its own code. */
describe.skipIf(!bubblewrap.works)(`a reviewer in a sandbox that commits after its verdict${unless}`, () => {
  it('does not get its commit onto the branch', { timeout: 120_000 }, async () => {
    await using attack = await AfterVerdict.play('bubblewrap', 'git commit');
    expect(attack.end).toMatchObject({ is: 'closed', phase: 'COMPLETED' });
    expect(attack.onMain()).toEqual([]);
    expect(attack.printed()).toContain('LATE ');
  });
});
