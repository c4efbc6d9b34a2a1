import { describe, expect, it } from 'vitest';
import { builtInWorkers } from './built-in-workers.ts';
import { Explorer, findScenario, nameOf } from './coverage.ts';
import { simulate } from './simulation.ts';

describe('steering by coverage', () => {
  it('names every scenario so that it can be played alone, with the same bytes', () => {
    const setup = { workers: builtInWorkers() };
    const explorer = new Explorer(3);
    const played = Array.from({ length: 7 }, () => {
      const result = simulate(explorer.next(), setup);
      explorer.learn(result);
      return result;
    });
    const variants = played.filter(({ scenario }) => scenario.varied !== undefined);
    expect(variants.length).toBeGreaterThan(0);
    for (const { scenario } of played) expect(findScenario(nameOf(scenario))).toEqual(scenario);
    for (const { scenario, digest } of variants.slice(-1))
      expect(simulate(findScenario(nameOf(scenario)), setup).digest).toBe(digest);
  });
});
