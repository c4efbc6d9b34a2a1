import { describe, expect, it } from 'vitest';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import { AfterVerdict, type Way, WAYS } from './after-verdict.ts';

const bubblewrap = await probeBubblewrap();
const unless = bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`;
const DURING: Way = 'a process that commits while it sends its verdict';
const AFTER = (Object.keys(WAYS) as Way[]).filter((way) => way !== DURING && way !== 'git commit');

describe.skipIf(!bubblewrap.works)(`a reviewer in a sandbox, after its verdict${unless}`, { timeout: 180_000 }, () => {
  it.each(AFTER)('gets nothing onto main by %s', async (way) => {
    await using attack = await AfterVerdict.play('bubblewrap', way);
    expect([attack.end.phase, attack.onMain(), attack.authors]).toEqual([
      'COMPLETED',
      [],
      ['agent:implementer', 'agent:fixer'],
    ]);
  });

  it(`gets nothing onto main by ${DURING}`, async () => {
    await using attack = await AfterVerdict.play('bubblewrap', DURING);
    // The commits come before the measurement, so the verdict is refused.
    expect([attack.end.is, attack.end.phase, attack.onMain()]).toEqual(['waits', 'REVIEW', []]);
  });
});

describe('a reviewer without a sandbox, after its verdict', { timeout: 180_000 }, () => {
  it('cannot commit: the hooks refuse it', async () => {
    await using attack = await AfterVerdict.play('none', 'git commit');
    expect([attack.end.phase, attack.onMain()]).toEqual(['COMPLETED', []]);
    expect(attack.printed()).toContain('REFUSED');
  });

  it('becomes an author by a ref file, and does not review its own work', async () => {
    await using attack = await AfterVerdict.play('none', 'a ref file');
    expect(attack.sources).toContain('agent:reviewer');
    expect([attack.end.phase === 'COMPLETED', attack.onMain()]).toEqual([false, []]);
  });
});
