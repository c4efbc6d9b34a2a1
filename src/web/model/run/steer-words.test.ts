import { expect, it } from 'vitest';
import { commandOf } from './steer-words.ts';
import type { SteerStep } from './steering.ts';

const step = (does: SteerStep['does'], kind: SteerStep['on']['kind'], id = 'x1'): SteerStep => ({
  does,
  on: { kind, id },
});

it.each([
  [step('message', 'agent'), "it's late", `baton agent send x1 'it'\\''s late'`],
  [step('stop', 'agent'), '', 'baton agent kill x1 --reason TEXT'],
  [step('attach', 'agent'), '', 'baton agent attach x1'],
  [step('cancel', 'task', 'a b'), 'no', "baton task cancel 'a b' --reason no"],
  [step('cancel', 'pipeline'), 'no', 'baton pipeline cancel x1 --reason no'],
  [step('resume', 'pipeline'), '', 'baton pipeline resume x1'],
  [step('unblock', 'task'), 'disk is free', "baton task unblock x1 --reason 'disk is free'"],
])('names the command of each step', (given, text, command) => {
  expect(commandOf(given, text)).toBe(command);
});
