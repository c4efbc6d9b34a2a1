import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { commit, handOn, readTask } from './hand-on.mjs';

/**
 * Plays a role without a model: `node agents/play.mjs ROLE` does the work of the role in the current worktree, and sends
 * the forms in `.baton/session` with the `baton` command.
 */
const CODE = 'src/parse-duration.js';
const TEST = 'test/parse-duration.test.js';

const roles = {
  'issue-manager': () =>
    handOn('prep-agent', 'Durations can be read back', {
      type: 'feature',
      priority: 'high',
      requirement: 'parseDuration("1h 30m") is 5400000',
    }),
  implement: () => {
    writeFileSync(CODE, code({ hour: 60_000, isStrict: false }));
    writeFileSync(TEST, tests);
    commit('feat: parseDuration reads what formatDuration writes');
  },
  implementer: () => handOn('reviewer-agent', 'parseDuration reads what formatDuration writes', { tests_added: '2' }),
  reviewer: () => {
    if (readFileSync(CODE, 'utf8').includes('throw')) {
      handOn('validator-agent', 'It does what the issue asks', {});
      return;
    }
    const found = 'An invalid duration returns NaN instead of an error';
    handOn('fixer-agent', found, { location: `${CODE}:12`, severity: 'critical' });
  },
  fixer: () => {
    const from = /The handoff to you, from ([\w-]+)/.exec(readTask())?.[1];
    if (from === 'ci-gate') {
      writeFileSync(CODE, code({ hour: 3_600_000, isStrict: false }));
      commit('fix: an hour has sixty minutes');
    } else if (from === 'reviewer-agent') {
      writeFileSync(CODE, code({ hour: 3_600_000, isStrict: true }));
      appendFileSync(TEST, strictTest);
      commit('fix: text that is no duration is an error');
    } else {
      appendFileSync('CHANGELOG.md', '- `parseDuration`: and back again.\n');
      commit('docs: the changelog tells of parseDuration');
    }
    handOn('reviewer-agent', 'Fixed the cause', { location: `${CODE}:3` });
  },
};

function code({ hour, isStrict }) {
  const guard = isStrict
    ? `  if (!/^\\d+[hms]( \\d+[hms])*$/.test(text)) throw new RangeError(\`no duration: \${text}\`);\n`
    : '';
  return `const SIZES = {
  // Milliseconds.
  h: ${hour},
  m: 60_000,
  s: 1000,
};

/** Converts the output of formatDuration back to milliseconds. */
export function parseDuration(text) {
${guard}  return text
    .split(' ')
    .map((part) => Number(part.slice(0, -1)) * SIZES[part.slice(-1)])
    .reduce((sum, ms) => sum + ms, 0);
}
`;
}

const tests = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration } from '../src/format-duration.js';
import { parseDuration } from '../src/parse-duration.js';

test('minutes and seconds are read', () => {
  assert.equal(parseDuration('2m 5s'), 125_000);
});

test('what is written is read back', () => {
  assert.equal(parseDuration(formatDuration(5_400_000)), 5_400_000);
});
`;

const strictTest = `
test('text that is no duration is an error', () => {
  assert.throws(() => parseDuration('soon'), RangeError);
});
`;

const [role = ''] = process.argv.slice(2);
roles[role]();
