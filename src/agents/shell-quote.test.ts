import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { shellQuote, shellWord } from './shell-quote.ts';

it.each(['/a/b-c_1.2', 'my repo', "it's", '$HOME', '~/x', 'Ｆ', '', '-'])('%j reaches a shell unchanged', (word) => {
  for (const written of [shellQuote(word), shellWord(word)])
    expect(execFileSync('/bin/sh', ['-c', `printf '%s' ${written}`], { encoding: 'utf8' })).toBe(word);
});

it('omits needless quotes', () => {
  expect(shellWord('/tmp/x/.worktrees/t1-first')).toBe('/tmp/x/.worktrees/t1-first');
  expect(shellWord('/tmp/my repo')).toBe("'/tmp/my repo'");
});
