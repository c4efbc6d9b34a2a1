import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { quoteForShell, shellWord } from './quote-for-shell.ts';

it.each(['/a/b-c_1.2', 'my repo', "it's", '$HOME', '~/x', 'Ｆ', '', '-'])('a shell reads %j unchanged', (word) => {
  for (const written of [quoteForShell(word), shellWord(word)])
    expect(execFileSync('/bin/sh', ['-c', `printf '%s' ${written}`], { encoding: 'utf8' })).toBe(word);
});

it('quotes a word only if a shell needs it', () => {
  expect(shellWord('/tmp/x/.worktrees/t1-first')).toBe('/tmp/x/.worktrees/t1-first');
  expect(shellWord('/tmp/my repo')).toBe("'/tmp/my repo'");
});
