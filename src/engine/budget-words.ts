import { renderDollars } from '../protocol/price.ts';
import { renderTime } from '../protocol/render-time.ts';
import type { BudgetScope, Measure } from '../state/runs/budget-scope.ts';
import type { BudgetUse } from '../state/runs/budget.ts';
import type { State } from '../state/state.ts';

/** As people call what a budget is for. */
export function nameOfScope({ agents, pipelines }: State, { kind, id }: BudgetScope): string {
  if (kind === 'agent') return `agent ${agents.get(id)?.plan.name ?? id}`;
  if (kind === 'pipeline') return `pipeline ${pipelines.get(id)?.name ?? id}`;
  return `${kind} ${id}`;
}

/** `210,000 of 200,000 tokens`. */
export function describeUse({ measure, used, limit, reserved }: BudgetUse): string {
  const isNext = used < limit && used + reserved >= limit;
  const next = isNext ? `; a request under way counts as ${amount(measure, reserved, false)}` : '';
  return `${amount(measure, used, false)} of ${amount(measure, limit)}${next}`;
}

export function amount(measure: Measure, value: number, withUnit = true): string {
  if (measure === 'cost') return renderDollars(value);
  if (measure === 'time') return renderTime(value);
  return `${String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',')}${withUnit ? ' tokens' : ''}`;
}
