import { expect, it } from 'vitest';
import { ALREADY_DELIVERED, combineOutcomes } from './github-webhook.ts';
import { refusal } from './refusals.ts';

const AWAY = refusal('store-unavailable', 'the store does not answer', 'GitHub can deliver it again.');

it.each([
  ['no project', [], 0],
  ['no project waits for it', [0, 0], 0],
  ['some projects wait for it', [1, 0, 1], 2],
  ['a later project waits for what an earlier one knows', [ALREADY_DELIVERED, 1], 1],
  ['all that waited for it know it', [0, ALREADY_DELIVERED], ALREADY_DELIVERED],
  ['one cannot record it', [1, AWAY, 0], AWAY],
  ['one cannot record it, another knows it', [ALREADY_DELIVERED, AWAY], AWAY],
])('a delivery of GitHub gets one answer for all projects: %s', (_, outcomes, answer) => {
  expect(combineOutcomes(outcomes)).toEqual(answer);
});
