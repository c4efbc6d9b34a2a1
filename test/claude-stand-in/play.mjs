import { writeFileSync } from 'node:fs';
import { commit, handOn } from './hand-on.mjs';

/** `node play.mjs ROLE` does the work of a role on the library in `examples/sample`. */
const CODE = `const MS = { h: 3_600_000, m: 60_000, s: 1000 };

/** Reads what formatDuration writes. */
export function parseDuration(text) {
  if (!/^\\d+[hms]( \\d+[hms])*$/.test(text)) throw new RangeError(\`no duration: \${text}\`);
  return text.split(' ').reduce((sum, part) => sum + Number(part.slice(0, -1)) * MS[part.slice(-1)], 0);
}
`;

const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration } from '../src/parse-duration.js';

test('reads hours and minutes', () => assert.equal(parseDuration('1h 30m'), 5_400_000));
test('refuses other text', () => assert.throws(() => parseDuration('soon'), RangeError));
`;

const ROLES = {
  'issue-manager': () =>
    handOn('prep-agent', 'Durations can be read back', {
      type: 'feature',
      priority: 'high',
      requirement: 'parseDuration("1h 30m") is 5400000',
    }),
  implement: () => {
    writeFileSync('src/parse-duration.js', CODE);
    writeFileSync('test/parse-duration.test.js', TEST);
    commit('feat: parseDuration reads what formatDuration writes');
  },
  implementer: () => handOn('reviewer-agent', 'parseDuration reads what formatDuration writes', { tests_added: '2' }),
  reviewer: () => handOn('validator-agent', 'It does what the issue asks', {}),
};

ROLES[process.argv[2]]();
