import { expect, it } from 'vitest';
import { splitCommand } from './split-command.ts';

it.each([
  ['baton task list', { command: 'baton task list', hint: '' }],
  [
    'git branch -f main abc (or, if it is checked out: git reset --keep abc)',
    { command: 'git branch -f main abc', hint: 'or, if it is checked out: git reset --keep abc' },
  ],
  ['Free some space, then: baton status', { command: null, hint: 'Free some space, then: baton status' }],
])('%s', (next, parts) => {
  expect(splitCommand(next)).toEqual(parts);
});
