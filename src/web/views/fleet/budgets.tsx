import type { Costs } from '../../../api/operations/project.ts';
import { useApi } from '../../app/hub-client.ts';
import { hrefTo } from '../../app/router.ts';
import { Show } from '../../kit/loading.tsx';
import { Words } from '../../kit/words.tsx';
import { BudgetMeter, describeBudget } from './budget.tsx';

type Budget = NonNullable<Costs['rows'][number]['budget']>;

interface Used {
  readonly by: Costs['by'];
  readonly name: string;
  readonly budget: Budget;
}

const MOST = 12;

/** The budgets in use, fullest first, as the daemon computes them. */
export function Budgets({ everyMs }: { readonly everyMs: number }) {
  const lists = [
    useApi('costs_get', { by: 'day' }, { everyMs }),
    useApi('costs_get', { by: 'task' }, { everyMs }),
    useApi('costs_get', { by: 'agent' }, { everyMs }),
    useApi('costs_get', { by: 'pipeline' }, { everyMs }),
  ];
  const failed = lists.find(({ error }) => error !== undefined)?.error;
  const isLoaded = lists.every(({ value }) => value !== undefined);
  const used = lists
    .flatMap(({ value }) => (value === undefined ? [] : usesIn(value)))
    .toSorted((a, b) => b.budget.percent - a.budget.percent)
    .slice(0, MOST);
  const loaded = { ...(isLoaded ? { value: used } : {}), ...(failed === undefined ? {} : { error: failed }) };
  return (
    <section class="part">
      <h2>Budgets</h2>
      <Show loaded={loaded} what="the budgets">
        {(budgets) =>
          budgets.length === 0 ? (
            <p class="dim">
              No budget is in use yet. Set budgets in the runbook: task_budget and day_budget under [limits], or budget
              of an agent or a pipeline.
            </p>
          ) : (
            <ul class="budgets">
              {budgets.map(({ by, name, budget }) => (
                <li key={`${by} ${name}`}>
                  <span class="one-line">
                    <span class="dim">{by}</span> <Name by={by} name={name} />
                  </span>
                  <BudgetMeter budget={budget} isShort />
                  <span class="dim number">{describeBudget(budget)}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Show>
    </section>
  );
}

function usesIn({ by, rows }: Costs): readonly Used[] {
  // Of the days, only the current one still has a budget.
  const own = by === 'day' ? rows.slice(-1) : rows;
  return own.flatMap(({ name, budget }) => (budget === null || name === null ? [] : [{ by, name, budget }]));
}

function Name({ by, name }: Pick<Used, 'by' | 'name'>) {
  if (by !== 'task') return <Words text={name} most={100} />;
  return (
    <a href={hrefTo({ view: 'tasks', id: name })}>
      <Words text={name} most={100} />
    </a>
  );
}
