import { describe, expect, it } from 'vitest';
import { AgentUsage } from './usage.ts';

function cost(amount: unknown, currency = 'USD') {
  return { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount, currency } };
}

describe('the usage of an agent', () => {
  it.each([
    ['a fraction', 0.5, 1],
    ['a negative number', -5, 0],
    ['a text', '7', 0],
    ['nothing', null, 0],
    ['a number beyond all bounds', 1e308, 1_000_000_000_000],
  ])('is a count that can be recorded, whatever the agent reports: %s', (_, outputTokens, output) => {
    const used = new AgentUsage('turn').onTurnEnd({ usage: { inputTokens: 3, outputTokens } });
    expect(used).toEqual({ input: 3, output, cacheRead: 0, cacheWrite: 0, costMillicents: null });
  });

  it('has the cost since the turn before', () => {
    const usage = new AgentUsage('turn');
    const costs = [cost(0.1), cost(0.3), cost(5, 'EUR'), cost(0.2), cost(-1), cost(1e300)].map((update) => {
      usage.onUpdate(update);
      return usage.onTurnEnd({})?.costMillicents;
    });
    // A total that decreases belongs to another conversation.
    expect(costs).toEqual([10_000, 20_000, 0, 20_000, 0, 100_000_000_000 - 20_000]);
  });

  it.each([
    ['the whole conversation', 0.5, 20_000],
    ['this process alone', 0.2, 20_000],
  ])('continues after a resume if the agent counts %s', (_, amount, millicents) => {
    const usage = new AgentUsage('turn', 0.3);
    usage.onUpdate(cost(amount));
    expect(usage.onTurnEnd({})?.costMillicents).toBe(millicents);
  });
});
