import { describe, expect, it } from 'vitest';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import { APPROVE, ForgedVerdict } from './forged-verdict.ts';

const bubblewrap = await probeBubblewrap();
const unless = bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`;

const ALTER = `spawnSync('sh', ['-c', 'echo "// EVIL" >>src/parse-duration.js; echo evil >evil.js'], { stdio: 'inherit' });`;

describe.skipIf(!bubblewrap.works)(`tests that a reviewer runs${unless}`, { timeout: 180_000 }, () => {
  it.each([
    ['before it approves', `${ALTER} ${APPROVE}`],
    ['after it has filled in its forms', `${APPROVE} ${ALTER}`],
  ])('get nothing onto main by altering the worktree %s', async (_, reviews) => {
    await using attack = await ForgedVerdict.open({ mode: 'bubblewrap', unseparated: 'ask', reviews });
    await attack.ended();
    // The script of the attack is on main too, in another folder.
    expect(attack.scene.git('log', '--patch', 'main', '--', 'src', 'evil.js')).not.toMatch(/EVIL|evil/);
  });
});
