import { describe, expect, it } from 'vitest';
import { findPager, printLong } from './pager.ts';

const LONG = 'line\n'.repeat(40);
const TERM = 'xterm';
const terminal = { env: { TERM }, isTerminal: true };

describe('a pager', () => {
  it.each([
    ['less, for more lines than the screen has', LONG, terminal, 'less'],
    ['what PAGER names', LONG, { ...terminal, env: { TERM, PAGER: 'more -s' } }, 'more -s'],
    [
      'what BATON_PAGER names before that',
      LONG,
      { ...terminal, env: { TERM, PAGER: 'more', BATON_PAGER: 'bat' } },
      'bat',
    ],
    ['none for a short text', 'line\n', terminal, undefined],
    ['none without a terminal', LONG, { ...terminal, isTerminal: false }, undefined],
    ['none with --no-pager', LONG, { ...terminal, pager: false }, undefined],
    ['none if PAGER is cat', LONG, { ...terminal, env: { TERM, PAGER: 'cat' } }, undefined],
    ['none if BATON_PAGER is empty', LONG, { ...terminal, env: { TERM, PAGER: 'less', BATON_PAGER: '' } }, undefined],
    ['none at a dumb terminal', LONG, { ...terminal, env: { TERM: 'dumb' } }, undefined],
    ['none at a terminal without a type', LONG, { ...terminal, env: {} }, undefined],
  ])('is %s', (_what, text, io, pager) => {
    expect(findPager(text, io, 24)).toBe(pager);
  });

  it('prints the text if the pager does not exist', () => {
    let out = '';
    const io = {
      env: { TERM, PATH: process.env['PATH'], BATON_PAGER: 'exec 2>/dev/null; /nonexistent/pager' },
      cwd: '/',
      isTerminal: true,
      out: (text: string) => (out += text),
      err: () => undefined,
      readInput: async () => new Uint8Array(),
    };
    printLong(LONG, io, 24);
    expect(out).toBe(LONG);
  });
});
