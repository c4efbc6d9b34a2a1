import { describe, expect, it } from 'vitest';
import { renderUsageSource } from '../protocol/text/usage-source.ts';
import { renderCosts } from './costs.ts';

const times = { work_ms: 3_723_000, wait_ms: 60_000, waiting_tokens: 0 };
const tokens = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost_millicents: 0, unpriced_tokens: 0 };
const counted = { measured_tokens: 0, client_tokens: 0 };
const nothing = { ...tokens, ...counted, turns: 0, work_ms: 0, wait_ms: 0, waiting_tokens: 0 };
const rest = { at: '2026-11-15T00:00:00Z', list_prices: { as_of: '2026-11-15', models: [] }, total: nothing };

describe('the table of costs', () => {
  it('reports that there are no costs', () => {
    expect(renderCosts({ ...rest, by: 'agent', rows: [] })).toBe('No usage yet.\n');
  });

  it('has a line for each, and the used part of its budget', () => {
    const budget = { measure: 'cost' as const, used: 125_000, limit: 250_000, percent: 50 };
    const coder = { name: 'coder', ...nothing, ...times, input_tokens: 12_345, cost_millicents: 125_000, budget };
    const other = { name: null, ...nothing, ...times, output_tokens: 7, unpriced_tokens: 7, budget: null };
    const total = { ...nothing, ...times, input_tokens: 12_345, output_tokens: 7, cost_millicents: 125_000 };
    expect(renderCosts({ ...rest, by: 'agent', rows: [coder, other], total }).split('\n')).toEqual([
      'AGENT  IN      OUT  CACHED  COST    WORKED  WAITED  TOKENS WAITING  BUDGET',
      'coder  12,345  0    0       $1.25   1h 2m   1m      0               50 % ($1.25 of $2.50)',
      '-      0       7    0       $0.00+  1h 2m   1m      0',
      'total  12,345  7    0       $1.25   1h 2m   1m      0',
      '',
      '+ Lower bound: some of the tokens have no known price. Add it to [prices] in the runbook.',
      '',
      'Tokens are as the client reports them.',
      '',
    ]);
  });

  it.each([
    [{}, undefined],
    [{ input_tokens: 110 }, 'Tokens are as the client reports them.'],
    [{ input_tokens: 1400, measured_tokens: 1400, client_tokens: 1400 }, 'Baton has measured 1,400 tokens.'],
    [
      { input_tokens: 1400, output_tokens: 100, measured_tokens: 1400, client_tokens: 110 },
      'Baton has measured 1,400 tokens (the client reports 110). The other 100 are as the client reports them.',
    ],
  ])('says who has counted the tokens: %o', (spent, expected) => {
    expect(renderUsageSource({ ...nothing, ...spent })).toBe(expected);
  });

  it('names the models that the shipped list prices, and its age', () => {
    const row = { name: 'coder', ...nothing, ...times, budget: null };
    const list_prices = { as_of: '2026-11-15', models: ['gpt-5.5', 'gemini-2.5-pro'] };
    expect(renderCosts({ ...rest, by: 'agent', rows: [row], list_prices })).toContain(
      '\nIf the client names no price, Baton uses its list of 2026-11-15 for gpt-5.5, gemini-2.5-pro. [prices] in the runbook overrides it.\n',
    );
  });

  it('shows tokens and time in their units, and strips control characters', () => {
    const row = (measure: 'tokens' | 'time') => ({
      name: 'a\u001B[31m',
      ...nothing,
      ...times,
      budget: { measure, used: 90_000, limit: 100_000, percent: 90 },
    });
    const shown = renderCosts({ ...rest, by: 'task', rows: [row('tokens'), row('time')] });
    expect(shown).toContain('90 % (90,000 of 100,000 tokens)');
    expect(shown).toContain('90 % (1m 30s of 1m 40s)');
    expect(shown).not.toContain('\u001B');
  });
});
