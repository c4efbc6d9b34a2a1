import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalize } from './normalize.ts';

describe('normalize', () => {
  it('gives a commit and its beginnings the same digits', () => {
    const commit = '3bfccea8b1054c1d82dcea34b71448c2aabbccdd';
    const [short = '', middle = '', whole = ''] = normalize(
      `${commit.slice(0, 7)} ${commit.slice(0, 12)} ${commit}`,
    ).split(' ');
    expect(whole).not.toBe(commit);
    expect(whole.startsWith(middle) && middle.startsWith(short)).toBe(true);
  });

  it('gives an agent and the beginning of its id the same digits', () => {
    const [short = '', whole = ''] = normalize('05b574a0 05b574a0-b105-4c1d-82dc-ea34b71448c2').split(' ');
    expect(short).not.toBe('05b574a0');
    expect(whole).toMatch(new RegExp(`^${short}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`));
  });

  it('makes two recordings of the same commands alike', () => {
    const output = (id: string, folder: string, at: string): string =>
      `agent ${id}\nin /tmp/baton-demo-${folder}/sample\nsince ${at}\ndone ${at.replace(/\d{3}Z/, '999Z')}\n`;
    const once = output('05b574a0', 'rB6hG5', '2026-11-19T05:51:39.242Z');
    expect(normalize(once)).toBe(normalize(output('c21893f5', 'Zz_9aa', '2027-03-01T00:00:00.242Z')));
  });

  it.each(['5400000 ms', 'W-00001', 'defaced', 'sum: 12345678', 'no id 12ab'])('keeps %s', (text) => {
    expect(normalize(text)).toBe(text);
  });

  it('keeps the length of every line', () => {
    const word = fc.constantFrom(
      '05b574a0',
      '2026-11-19T05:51:39.242Z',
      '2026-11-19T…',
      '/tmp/baton-demo-rB6hG5',
      '\n',
      ' ',
      'a',
    );
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const widths = (text: string): number[] => text.split('\n').map((line) => line.length);
        expect(widths(normalize(words.join('')))).toEqual(widths(words.join('')));
      }),
    );
  });
});
