import { expect, it } from 'vitest';
import { NO_FLOW } from '../workflow/flow.ts';
import { isWorkable } from './task.ts';

it.each([
  ['without a gate, by hand', null, false, true],
  ['without a gate, in a workflow: Baton moves it on', 'autonomous', false, false],
  ['with a gate', null, true, false],
  ['with a gate, in a workflow', 'semi', true, false],
] as const)('CI_PENDING can be claimed only if nothing else completes it: %s', (_, mode, ciGate, expected) => {
  expect(isWorkable({ phase: 'CI_PENDING', flow: { ...NO_FLOW, mode } }, ciGate)).toBe(expected);
});
