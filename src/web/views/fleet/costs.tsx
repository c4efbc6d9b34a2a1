import { renderUsageSource } from '../../../protocol/text/usage-source.ts';
import type { Costs as CostsView } from '../../../api/operations/project.ts';
import { useApi } from '../../app/hub-client.ts';
import { hrefTo } from '../../app/router.ts';
import { Empty, Show } from '../../kit/loading.tsx';
import { renderAmount, renderCount } from '../../kit/numbers.ts';
import { Tabs } from '../../kit/split.tsx';
import { renderSpan } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import { Budgets } from './budgets.tsx';
import { CostTable } from './cost-table.tsx';
import { DayPlot } from './day-plot.tsx';
import { chooseMeasure, MEASURES, type Measure, renderPrice } from './measures.ts';

type Query = Readonly<Record<string, string>>;

/** The reload interval: usage grows while agents work, mostly between entries. */
const EVERY_MS = 3000;

const BY_WORDS: Readonly<Record<CostsView['by'], string>> = {
  day: 'Day',
  task: 'Task',
  model: 'Model',
  agent: 'Agent',
  pipeline: 'Pipeline',
};
const ORDER = ['day', 'task', 'model', 'agent', 'pipeline'] as const satisfies readonly CostsView['by'][];

export function Costs({ query }: { readonly query: Query }) {
  const by = ORDER.find((name) => name === query['by']) ?? 'day';
  const days = useApi('costs_get', { by: 'day' }, { everyMs: EVERY_MS });
  const measure = chooseMeasure(query['measure'], days.value?.total);
  const rows = useApi('costs_get', { by }, { everyMs: EVERY_MS });
  const to = (more: Query): string => hrefTo({ view: 'fleet', id: 'costs', query: { ...query, ...more } });
  return (
    <div class="page-part">
      <Show loaded={days} what="the costs">
        {(value) =>
          value.rows.length === 0 ? (
            <Empty>No usage yet: no agent has reported tokens or time.</Empty>
          ) : (
            <>
              <Totals costs={value} />
              <section class="part">
                <div class="bar spread">
                  <h2>{measure.title} by day</h2>
                  <MeasureLinks now={measure} to={(name) => to({ measure: name })} />
                </div>
                <DayPlot rows={value.rows} measure={measure} />
              </section>
            </>
          )
        }
      </Show>
      <Budgets everyMs={EVERY_MS} />
      <section class="part">
        <Tabs
          parts={ORDER.map((name) => [name, BY_WORDS[name]])}
          now={by}
          to={(name) => to({ by: name })}
          label="Costs by"
        />
        <Show loaded={rows} what="the costs">
          {(value) => <CostTable costs={value} measure={measure} />}
        </Show>
      </section>
      {days.value === undefined ? null : <PriceNote costs={days.value} />}
    </div>
  );
}

function Totals({ costs: { total } }: { readonly costs: CostsView }) {
  const figures = [
    ['Cost', renderPrice(total)],
    ['Input tokens', renderAmount(total.input_tokens)],
    ['Output tokens', renderAmount(total.output_tokens)],
    ['Cached tokens', renderAmount(total.cached_tokens)],
    ['Turns', renderCount(total.turns)],
    ['Worked', renderSpan(total.work_ms)],
    ['Waited', renderSpan(total.wait_ms)],
  ] as const;
  return (
    <dl class="figures">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="number">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function MeasureLinks({ now, to }: { readonly now: Measure; readonly to: (name: string) => string }) {
  return <Tabs parts={MEASURES.map(({ name, title }) => [name, title])} now={now.name} to={to} label="Measure" />;
}

function PriceNote({ costs: { total, list_prices: prices } }: { readonly costs: CostsView }) {
  const source = renderUsageSource(total);
  return (
    <div class="dim notes-below">
      {source === undefined ? null : <p>{source}</p>}
      {total.unpriced_tokens > 0 ? (
        <p>
          A cost with a + is a lower bound: {renderAmount(total.unpriced_tokens)} tokens have no known price. Add it to
          [prices] in the runbook.
        </p>
      ) : null}
      {total.waiting_tokens > 0 ? (
        <p>{renderAmount(total.waiting_tokens)} tokens were used while an agent was only waiting.</p>
      ) : null}
      {prices.models.length === 0 ? null : (
        <p>
          If the client names no price, Baton uses its list of {prices.as_of} for{' '}
          <Words text={prices.models.join(', ')} most={1000} />. [prices] in the runbook overrides it.
        </p>
      )}
    </div>
  );
}
