import { describe, expect, it } from 'vitest';
import { costOf, findPrice, renderDollars } from './price.ts';
import { renderElapsedTime } from './text/text-format.ts';

const price = (model: string, input = 300_000) => ({ model, input, output: 1_500_000, cached: 30_000 });

describe('the price of a model', () => {
  const prices = [price('gpt-*'), price('gpt-5*'), price('gpt-5-codex')];

  it.each([
    ['gpt-5-codex', 'gpt-5-codex'],
    ['gpt-5-codex-mini', 'gpt-5*'],
    ['gpt-4', 'gpt-*'],
    ['claude', undefined],
    [null, undefined],
  ])('of %s is that of %s', (model, found) => {
    expect(findPrice(prices, model)?.model).toBe(found);
  });

  it('is per million tokens, and the cost is rounded up', () => {
    expect(costOf({ input: 1_000_000, output: 0, cached: 0 }, price('x'))).toBe(300_000);
    expect(costOf({ input: 1, output: 0, cached: 0 }, price('x'))).toBe(1);
    expect(costOf({ input: 0, output: 0, cached: 0 }, price('x'))).toBe(0);
  });
});

it.each([
  [250_000, '$2.50'],
  [0, '$0.00'],
  [1, '$0.00001'],
  [123_456_700, '$1234.567'],
  [-50_000, '-$0.50'],
])('shows %d thousandths of a cent as %s', (millicents, shown) => {
  expect(renderDollars(millicents)).toBe(shown);
});

it.each([
  [0, '0s'],
  [800, '800ms'],
  [61_000, '1m 1s'],
  [90_061_000, '1d 1h'],
  [3_600_000, '1h'],
])('shows %d ms as %s', (ms, shown) => {
  expect(renderElapsedTime(ms)).toBe(shown);
});
