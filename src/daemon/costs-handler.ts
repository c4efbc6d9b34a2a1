import { costsGet } from '../api/cost-operations.ts';
import { PRICES_AS_OF } from '../protocol/default-prices.ts';
import type { BudgetUse } from '../state/runs/budget.ts';
import { costsBy, listedModels } from '../state/runs/costs.ts';
import { NOTHING_SPENT, plusSpent } from '../state/runs/spent.ts';
import { answerOf, handle } from './handler.ts';

/** The table of `baton costs`, as of this moment. */
export const costsHandler = handle(costsGet, async ({ project, input, services }) => {
  const { by = 'agent' } = input;
  const at = services.now().toISOString();
  const settled = await project.keeper.read(({ state, rules }) => ({
    rows: costsBy(state, by, rules, at),
    listed: listedModels(state, rules),
  }));
  return answerOf(settled, ({ rows, listed }) => ({
    by,
    at,
    rows: rows.map(({ name, spent, budget }) => ({ name, ...spent, budget: budget && budgetView(budget) })),
    // The models that Baton's own list prices, if the client names no price.
    list_prices: { as_of: PRICES_AS_OF, models: listed },
    total: rows.reduce((sum, { spent }) => plusSpent(sum, spent), NOTHING_SPENT),
  }));
});

/** Tokens, thousandths of a cent, or milliseconds. */
function budgetView({ measure, used, limit }: BudgetUse) {
  return { measure, used, limit, percent: Math.floor((used / limit) * 100) };
}
