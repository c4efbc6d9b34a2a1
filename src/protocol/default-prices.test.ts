import { describe, expect, it } from 'vitest';
import { DEFAULT_PRICES, findPriceOrDefault, PRICES_AS_OF, UNKNOWN_MODELS } from './price.ts';

describe('the prices that Baton ships', () => {
  it('have a date', () => {
    expect(PRICES_AS_OF).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });

  it.each([
    ['claude-sonnet-5', 200_000, 1_000_000, 20_000],
    ['claude-opus-5-5-20260922', 400_000, 2_000_000, 20_000],
    ['gpt-5.5-codex', 500_000, 3_000_000, 50_000],
    ['gpt-5.5-pro', 3_000_000, 18_000_000, 3_000_000],
    ['gpt-5-codex', 125_000, 1_000_000, 12_500],
    ['gpt-5.4-mini', 75_000, 450_000, 7500],
    ['gemini-2.5-pro', 125_000, 1_000_000, 12_500],
    ['gemini-2.5-flash-lite', 10_000, 40_000, 1000],
  ])('include %s', (model, input, output, cached) => {
    expect(findPriceOrDefault([], model)).toMatchObject({ input, output, cached });
  });

  it('have no price for unknown models', () => {
    const unknown = ['somebody-elses-model', 'gpt-5.9-sol', 'gpt-7', 'claude-opus-6', 'claude-haiku-9', 'gemini-4-pro'];
    for (const model of unknown) expect(findPriceOrDefault([], model)).toBeUndefined();
    expect(findPriceOrDefault([], null)).toBeUndefined();
  });

  it.each([
    [UNKNOWN_MODELS.anthropic, 'claude-'],
    [UNKNOWN_MODELS.openai, 'gpt-'],
    [UNKNOWN_MODELS.gemini, 'gemini-'],
  ])('price the %s like the dearest one', (unknown, family) => {
    const found = findPriceOrDefault([], unknown);
    const known = DEFAULT_PRICES.filter(({ model }) => model.startsWith(family));
    expect(known.length).toBeGreaterThan(5);
    for (const name of ['input', 'output', 'cached'] as const)
      expect(found?.[name]).toBe(Math.max(...known.map((price) => price[name])));
  });

  it('are overridden by any matching price of the runbook, even with a shorter pattern', () => {
    const own = { model: 'gpt-*', input: 1, output: 2, cached: 3 };
    expect(findPriceOrDefault([own], 'gpt-5.5-codex')).toBe(own);
    expect(findPriceOrDefault([own], 'gemini-2.5-pro')).toMatchObject({ input: 125_000 });
  });

  it('are whole numbers, one per pattern, and cached input costs no more than input', () => {
    expect(new Set(DEFAULT_PRICES.map(({ model }) => model)).size).toBe(DEFAULT_PRICES.length);
    for (const { input, output, cached } of DEFAULT_PRICES) {
      expect([input, output, cached].every((price) => Number.isSafeInteger(price) && price > 0)).toBe(true);
      expect(cached <= input && input <= output).toBe(true);
    }
  });
});
