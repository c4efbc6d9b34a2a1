import { renderDollars } from '../protocol/price.ts';
import { renderElapsedTime } from '../protocol/text/render-time.ts';
import type { BudgetScope, Measure } from '../state/runs/budget-scope.ts';
import type { BudgetUse } from '../state/runs/budget.ts';
import type { State } from '../state/state.ts';

/** As people call what a budget is for. */
export function renderScope({ agents, pipelines }: State, { kind, id }: BudgetScope): string {
  if (kind === 'agent') return `agent ${agents.get(id)?.plan.name ?? id}`;
  if (kind === 'pipeline') return `pipeline ${pipelines.get(id)?.name ?? id}`;
  return `${kind} ${id}`;
}

/** `210,000 of 200,000 tokens`. */
export function renderUse({ measure, used, limit, reserved }: BudgetUse): string {
  const isNext = used < limit && used + reserved >= limit;
  const next = isNext ? `; a request under way counts as ${renderAmount(measure, reserved, false)}` : '';
  return `${renderAmount(measure, used, false)} of ${renderAmount(measure, limit)}${next}`;
}

export function renderAmount(measure: Measure, value: number, withUnit = true): string {
  if (measure === 'cost') return renderDollars(value);
  if (measure === 'time') return renderElapsedTime(value);
  return `${String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',')}${withUnit ? ' tokens' : ''}`;
}
