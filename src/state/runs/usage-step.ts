import { rulesInForce, type Rules } from '../rules.ts';
import type { State } from '../state.ts';
import type { AgentRun } from './agent-run.ts';
import { agentsIn, scopesOf, listBudgetUses, WARN_AT } from './budget.ts';

type Usage = NonNullable<AgentRun['usage']>;

/**
 * Whether a report of usage moves a budget far enough to be recorded. A step is 5 % of the budget, and less when little is left: each
 * agent may use half of its share of the rest before that is on record, so that several agents together do not overspend unseen.
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
  tokens: ({ input_tokens, output_tokens, cached_tokens }: Usage) => input_tokens + output_tokens + cached_tokens,
  cost: ({ cost_millicents }: Usage) => cost_millicents ?? 0,
} as const;

const RESERVED = {
  tokens: ({ reserved_tokens = 0 }: Usage) => reserved_tokens,
  cost: ({ reserved_millicents = 0 }: Usage) => reserved_millicents,
} as const;
