import { describe, expect, it } from 'vitest';
import { cutText } from './cut-text.ts';

const room = { lines: 2, characters: 10, keep: 'start' } as const;

describe('cutting', () => {
  it('leaves a short text alone', () => {
    expect(cutText('a\nb\n', room)).toEqual({ shown: 'a\nb', hidden: 0 });
  });

  it('keeps the first lines', () => {
    expect(cutText('a\nb\nc', room)).toEqual({ shown: 'a\nb', hidden: 2 });
  });

  it('keeps the last lines of output', () => {
    expect(cutText('a\nb\nc\n', { ...room, keep: 'end' })).toEqual({ shown: 'b\nc', hidden: 2 });
  });

  it('cuts a line that is too long, never inside a character', () => {
    expect(cutText(`${'x'.repeat(9)}😀yz`, room)).toEqual({ shown: 'x'.repeat(9), hidden: 4 });
    expect(cutText(`zy😀${'x'.repeat(9)}`, { ...room, keep: 'end' })).toEqual({ shown: 'x'.repeat(9), hidden: 4 });
  });
});
