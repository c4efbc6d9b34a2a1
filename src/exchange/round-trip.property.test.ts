import fc from 'fast-check';
import { describe, it } from 'vitest';
import { BATON_IDS, expectRoundTrip, expectUpdate, tasksWith } from './arbitrary.cases.ts';
import type { FormatName } from './format.ts';
import { FORMATS } from './formats.ts';
import type { ExchangedTask } from './task.ts';

const NUMBERS = fc.integer({ min: 1, max: 99_999 }).map(String);

/** Issues have numbers; the other tools hold every id of Baton. */
const CASES: readonly (readonly [FormatName, fc.Arbitrary<string>])[] = [
  ['markdown', BATON_IDS],
  ['task-master', BATON_IDS],
  ['beads', BATON_IDS],
  ['github', NUMBERS],
];

describe.each(CASES)('%s', (name, ids) => {
  it('gives back the ids, titles, statuses and dependencies that were written', () => {
    fc.assert(
      fc.property(tasksWith(ids), (tasks) => expectRoundTrip(FORMATS[name], tasks)),
      { numRuns: 500 },
    );
  });

  it('takes changes of status and new tasks into a file that is there', () => {
    const changed = fc.tuple(
      tasksWith(ids),
      fc.nat(12),
      fc.array(fc.constantFrom('todo', 'done', 'blocked'), { minLength: 12 }),
    );
    fc.assert(
      fc.property(changed, ([tasks, count, statuses]) => {
        const moved = tasks.map((task, i): ExchangedTask => {
          const status = (statuses[i] ?? 'todo') as ExchangedTask['status']; // oxlint-disable-line typescript/no-unsafe-type-assertion
          return { ...task, status, reason: status === 'blocked' ? 'somebody must decide' : null };
        });
        expectUpdate(FORMATS[name], tasks.slice(0, Math.max(1, count)), moved);
      }),
      { numRuns: 300 },
    );
  });

  it('never throws, whatever the text is', () => {
    const { read, render } = FORMATS[name];
    const pieces = fc.constantFrom(
      '- [ ] ',
      '\n',
      '  ',
      '{',
      '}',
      '[',
      ']',
      '"id":',
      '1',
      ',',
      '"tasks":',
      ':',
      '"',
      '```',
      '\\',
      '(after: ',
      ')',
      '\ud800',
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(fc.oneof(pieces, fc.string({ maxLength: 3 })), { maxLength: 40 }).map((all) => all.join('')),
      fc.json(),
    );
    fc.assert(
      fc.property(text, (each) => {
        read(each);
        render([], { existing: each, at: '' });
      }),
      { numRuns: 2000 },
    );
  });
});
