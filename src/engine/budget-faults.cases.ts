import type { Rules } from '../state/rules.ts';
import { ACCOUNTS, type AccountKind } from '../state/runs/accounts.ts';
import { isSpent, scopesOf, findHighestUse } from '../state/runs/budget.ts';
import { NO_SPENDING, addSpending, type Spending } from '../state/runs/spent.ts';
import { isHeldByBudget } from '../state/runs/standing.ts';
import type { State } from '../state/state.ts';
import { isAtWork } from './handlers.ts';

/** Describes a budget fault that no state may have; undefined if there is none. */
export function findInBudgets(state: State, rules: Rules, at: string): string | undefined {
  return findUnequal(state) ?? findOverspent(state, rules, at) ?? findTwice(state) ?? findForgotten(state);
}

/** Checks that the sums are equal however they are computed. */
function findUnequal(state: State): string | undefined {
  const [first, ...others] = ACCOUNTS.map((kind) => ({ kind, sum: JSON.stringify(sumOf(state, kind)) }));
  const odd = others.find(({ sum }) => sum !== first?.sum);
  return odd && `by ${odd.kind} it is ${odd.sum}, by ${first?.kind} ${first?.sum}`;
}

function sumOf({ accounts }: State, kind: AccountKind): Spending {
  const own = [...accounts].filter(([key]) => key.startsWith(`${kind}:`)).map(([, spent]) => spent);
  return own.reduce(addSpending, NO_SPENDING);
}

/** Checks that agents on an exhausted budget wait. Time budgets are checked by a timer instead. */
function findOverspent(state: State, rules: Rules, at: string): string | undefined {
  for (const agent of state.agents.values()) {
    if (!isAtWork(agent)) continue;
    const step = state.pipelines.get(agent.owner?.pipelineId ?? '')?.step;
    if (step?.status === 'waiting') continue;
    for (const scope of scopesOf(state, agent, at)) {
      const use = findHighestUse(state, scope, rules, at);
      if (isSpent(use) && use?.measure !== 'time')
        return `agent ${agent.id} works, and ${scope.kind} ${scope.id} is used up`;
    }
  }
  return undefined;
}

/** Checks that each budget has at most one open decision. */
function findTwice({ decisions }: State): string | undefined {
  const open = [...decisions.values()].filter(({ result, scope }) => result === null && scope !== null);
  const keys = open.map(({ scope }) => `${scope?.kind} ${scope?.id}`);
  const twice = keys.find((key, i) => keys.indexOf(key) !== i);
  return twice && `two questions about the budget of ${twice}`;
}

/** Checks that an agent that waits for a budget can still get an answer. */
function findForgotten(state: State): string | undefined {
  const { agents, decisions } = state;
  const left = [...agents.values()].find(
    (agent) => isHeldByBudget(state, agent) && decisions.get(agent.parked ?? '')?.result !== null,
  );
  return left && `agent ${left.id} waits for a question about a budget that nobody can answer`;
}
