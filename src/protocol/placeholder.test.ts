import { describe, expect, it } from 'vitest';
import { findPlaceholder, PLACEHOLDERS } from './placeholder.ts';

describe('a value that is still the placeholder of a form', () => {
  it.each([
    ['as it was written', 'FILL IN'],
    ['in other case', 'Fill in'],
    ['between white space', '  FILL\n IN\t'],
    ['with invisible characters', 'FILL\u200b IN\u2060'],
    ['in wide letters', 'ＦＩＬＬ ＩＮ'],
    ...Object.entries(PLACEHOLDERS).map(([name, text]) => [`for ${name}`, text]),
  ])('is found: %s', (_, text) => {
    expect(findPlaceholder({ summary: text })).toBe('summary');
  });

  it.each([
    ['in a list', { blockers: ['none', 'FILL IN'] }, 'blockers[1]'],
    ['in an object of a list', { log: [{ level: 'info', message: PLACEHOLDERS.did }] }, 'log[0].message'],
    ['in an object', { data: { a: { b: 'FILL IN' } } }, 'data.a.b'],
    ['as the whole message', 'FILL IN', ''],
  ])('is named by its path: %s', (_, value, path) => {
    expect(findPlaceholder(value)).toBe(path);
  });

  it.each([
    'FILL IN: I filled in the form',
    'The word FILL IN stays in the template.',
    'fill in the blanks',
    '',
    'f111',
    'https://baton.invalid/tasks/A/pull',
  ])('is not a text that only contains it or resembles it: %j', (text) => {
    expect(findPlaceholder({ summary: text, tests_run: [], count: 0, flag: false, absent: undefined })).toBeUndefined();
  });
});
