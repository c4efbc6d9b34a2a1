import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../test/lanes.ts';
import { SHOWN_STATUSES } from '../protocol/shape/shared-fields.ts';
import { BATON_IDS, essence, reasonFor, roundTrip, STATUSES, tasksWith, updated } from './arbitrary.cases.ts';
import { findFormat, FORMATS } from './formats.ts';
import type { FormatName, TaskStatus } from './task.ts';

const NUMBERS = fc.integer({ min: 1, max: 99_999 }).map(String);

/** GitHub issues have numbers; the other tools accept every id of Baton. Beads has no status for cancelled. */
const CASES: readonly (readonly [FormatName, fc.Arbitrary<string>, readonly TaskStatus[]])[] = [
  ['markdown', BATON_IDS, SHOWN_STATUSES],
  ['task-master', BATON_IDS, SHOWN_STATUSES],
  ['beads', BATON_IDS, STATUSES],
  ['github', NUMBERS, SHOWN_STATUSES],
];

const WORDS = [
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
];
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.json(),
  fc
    .array(fc.oneof(fc.constantFrom(...WORDS, '\ud800'), fc.string({ maxLength: 3 })), { maxLength: 40 })
    .map((words) => words.join('')),
);

describe.each(CASES)('%s', (name, ids, known) => {
  it('returns the written ids, titles, statuses and dependencies', () => {
    fc.assert(
      fc.property(tasksWith(ids, known), (tasks) => {
        expect(roundTrip(FORMATS[name], tasks)).toEqual({ tasks: essence(tasks), isOrdered: true, isStill: true });
      }),
      { numRuns: samples(500) },
    );
  });

  it('adds status changes and new tasks to an existing file', () => {
    const changes = fc.array(fc.constantFrom(...known), { minLength: 12 });
    fc.assert(
      fc.property(tasksWith(ids, known), fc.integer({ min: 1, max: 12 }), changes, (tasks, count, statuses) => {
        const later = tasks.map((task, i) => {
          const status = statuses[i] ?? 'todo';
          return { ...task, status, reason: reasonFor(status) };
        });
        expect(updated(FORMATS[name], tasks.slice(0, count), later)).toEqual(essence(later));
      }),
      { numRuns: samples(300) },
    );
  });

  it('accepts any text, and never throws', () => {
    const { read, render } = FORMATS[name];
    fc.assert(
      fc.property(hostile, (text) => {
        expect([findFormat(text), read(text).ok, render([], { existing: text, at: '' }).ok]).toHaveLength(3);
      }),
      { numRuns: samples(2000) },
    );
  });

  it('is detected in its own output', () => {
    fc.assert(
      fc.property(tasksWith(ids, known), (tasks) => {
        const rendered = FORMATS[name].render(tasks, { at: '2026-01-01T00:00:00.000Z' });
        expect(rendered.ok && findFormat(rendered.value.text)).toBe(name);
      }),
    );
  });
});
