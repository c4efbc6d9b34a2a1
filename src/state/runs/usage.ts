import { costOf, findPriceOrDefault, type Price, type TokenCounts } from '../../protocol/price.ts';
import { type Rules, rulesInForce } from '../rules.ts';
import type { State } from '../state.ts';
import type { AgentRun } from './agent-run.ts';
import { agentsIn, listBudgetUses, scopesOf, WARN_AT } from './budget.ts';
import { tokensIn } from './spent.ts';

/**
 * Totals of all processes of an agent, as the client counts them; the cost is the client's own price of all ended
 * turns.
 */
export interface CountedUsage extends Pick<
  Usage,
  'model' | 'input_tokens' | 'output_tokens' | 'cached_tokens' | 'cost_millicents'
> {
  /**
   * The tokens without a price from the client: those of the current turn, and `lasting` tokens that it will never
   * price.
   */
  readonly open?: TokenCounts & { readonly lasting?: number };
}

export type PricedUsage = Pick<Usage, 'cost_millicents'> & Required<Pick<Usage, 'unpriced_tokens'>>;

/**
 * Prices usage with the client's own price, else the runbook's, else the default one. New usage is priced by the
 * current model; tokens without a known price are counted separately.
 */
export function priceUsage(before: AgentRun['usage'], counted: CountedUsage, prices: readonly Price[]): PricedUsage {
  const price = findPriceOrDefault(prices, counted.model);
  const open = { ...NO_TOKENS, ...counted.open };
  if (counted.cost_millicents !== null) {
    const { cost_millicents } = counted;
    if (price === undefined) return { cost_millicents, unpriced_tokens: open.lasting };
    return { cost_millicents: cost_millicents + costOf(open, price), unpriced_tokens: 0 };
  }
  const known = before?.cost_millicents ?? null;
  const unpriced = before?.unpriced_tokens ?? 0;
  const added = since(before, counted);
  if (price !== undefined) return { cost_millicents: (known ?? 0) + costOf(added, price), unpriced_tokens: unpriced };
  // The client may report the price at the end of the turn.
  const settled = tokensIn(counted) - (open.input + open.output + open.cached);
  return {
    cost_millicents: known,
    unpriced_tokens: known === null ? settled : unpriced + added.input + added.output + added.cached,
  };
}

/** Estimates the cost of requests in progress; 0 if no price is known. */
export function priceRequests(model: string | null, requests: TokenCounts, prices: readonly Price[]): number {
  const price = findPriceOrDefault(prices, model);
  return price === undefined ? 0 : costOf(requests, price);
}

const NO_TOKENS = { input: 0, output: 0, cached: 0, lasting: 0 } as const;

function since(before: AgentRun['usage'], { input_tokens, output_tokens, cached_tokens }: CountedUsage) {
  return {
    input: Math.max(0, input_tokens - (before?.input_tokens ?? 0)),
    output: Math.max(0, output_tokens - (before?.output_tokens ?? 0)),
    cached: Math.max(0, cached_tokens - (before?.cached_tokens ?? 0)),
  };
}

type Usage = NonNullable<AgentRun['usage']>;

/**
 * Reports whether new usage must be recorded because a budget moved by a step. A step is 5 % of the budget, and less
 * when little is left: each agent may leave half of its share of the rest unrecorded, so that several agents together
 * do not overspend unnoticed.
 */
export function isWorthRecording(state: State, agent: AgentRun, used: Usage, rules: Rules, at: string): boolean {
  const inForce = rulesInForce(state, rules);
  return scopesOf(state, agent, at).some((scope) =>
    listBudgetUses(state, scope, inForce, at).some(({ measure, used: before, limit, reserved }) => {
      if (measure === 'time') return false;
      const added = AMOUNT[measure](used) - (agent.usage === null ? 0 : AMOUNT[measure](agent.usage));
      const underWay = reserved + RESERVED[measure](used) - (agent.usage === null ? 0 : RESERVED[measure](agent.usage));
      const after = before + added;
      if (after + underWay >= limit) return true;
      if (before < limit * WARN_AT && after >= limit * WARN_AT) return true;
      const sharing = agentsIn(state, scope).filter(({ outcome }) => outcome === null).length;
      const left = Math.max(0, limit - before - underWay);
      return added > 0 && added >= Math.min(limit * STEP, left / (2 * Math.max(1, sharing)));
    }),
  );
}

const STEP = 0.05;

const AMOUNT = {
  tokens: tokensIn,
  cost: ({ cost_millicents }: Usage) => cost_millicents ?? 0,
} as const;

const RESERVED = {
  tokens: ({ reserved_tokens = 0 }: Usage) => reserved_tokens,
  cost: ({ reserved_millicents = 0 }: Usage) => reserved_millicents,
} as const;
