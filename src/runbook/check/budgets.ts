import type { Path, RunbookSubject } from './subject.ts';

/** A budget that limits nothing is a mistake, not a wish. */
export function checkBudgets(subject: RunbookSubject): void {
  for (const [path, budget] of budgetsOf(subject)) {
    if (Object.keys(budget).length > 0) continue;
    const message = `${path.join('.')} limits nothing`;
    const hint = 'Give it tokens = 200000, cost = "$2.50" or time = "2h".';
    subject.report('runbook/empty-budget', path, message, hint, subject.placeOfName(path));
  }
}

function budgetsOf({ value }: RunbookSubject): readonly (readonly [Path, object])[] {
  const found: (readonly [Path, object])[] = [];
  for (const section of ['agents', 'pipelines'] as const) {
    for (const [name, { budget }] of Object.entries(value[section] ?? {}))
      if (budget !== undefined) found.push([[section, name, 'budget'], budget]);
  }
  for (const name of ['task_budget', 'day_budget'] as const) {
    const budget = value.limits?.[name];
    if (budget !== undefined) found.push([['limits', name], budget]);
  }
  return found;
}
