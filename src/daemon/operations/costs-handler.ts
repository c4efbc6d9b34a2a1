import { costsGet } from '../../api/operations/cost-operations.ts';
import { PRICES_AS_OF } from '../../protocol/default-prices.ts';
import type { BudgetUse } from '../../state/runs/budget.ts';
import { listCosts, findModelsPricedByDefault } from '../../state/runs/costs.ts';
import { NO_SPENDING, addSpending } from '../../state/runs/spent.ts';
import { answerFor, handlerFor } from './handler.ts';

/** The table of `baton costs`, as of this moment. */
export const costsHandler = handlerFor(costsGet, async ({ project, input, services }) => {
  const { by = 'agent' } = input;
  const at = services.now().toISOString();
  const settled = await project.commandLoop.read(({ state, rules }) => ({
    rows: listCosts(state, by, rules, at),
    listed: findModelsPricedByDefault(state, rules),
  }));
  return answerFor(settled, ({ rows, listed }) => ({
    by,
    at,
    rows: rows.map(({ name, spent, budget }) => ({ name, ...spent, budget: budget && budgetView(budget) })),
    // The models that Baton's own list prices, if the client names no price.
    list_prices: { as_of: PRICES_AS_OF, models: listed },
    total: rows.reduce((sum, { spent }) => addSpending(sum, spent), NO_SPENDING),
  }));
});

/** Tokens, thousandths of a cent, or milliseconds. */
function budgetView({ measure, used, limit }: BudgetUse) {
  return { measure, used, limit, percent: Math.floor((used / limit) * 100) };
}
