import type { Costs } from '../../../api/operations/project.ts';
import { hrefTo } from '../../app/router.ts';
import { Empty } from '../../kit/loading.tsx';
import { Meter } from '../../kit/meter.tsx';
import { renderAmount, renderCount } from '../../kit/numbers.ts';
import { renderSpan } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import { BudgetMeter } from './budget.tsx';
import { type Measure, renderPrice, tokensIn } from './measures.ts';

type Row = Costs['rows'][number];

/** More rows would only slow the page; the CLI lists all. */
const MOST = 200;

export function CostTable({ costs, measure }: { readonly costs: Costs; readonly measure: Measure }) {
  const { by, total } = costs;
  if (costs.rows.length === 0) return <Empty>No usage yet.</Empty>;
  const rows = by === 'day' ? costs.rows.toReversed() : costs.rows.toSorted((a, b) => measure.of(b) - measure.of(a));
  const most = Math.max(1, ...rows.map(measure.of));
  return (
    <div class="wide" role="region" aria-label={`Costs by ${by}`} tabIndex={0}>
      <table class="costs">
        <thead>
          <tr>
            <th>{by}</th>
            <th>{measure.title}</th>
            {measure.name === 'cost' ? null : <th class="right">Cost</th>}
            <th class="right">In</th>
            <th class="right">Out</th>
            <th class="right">Cached</th>
            <th class="right">Turns</th>
            <th class="right">Worked</th>
            <th class="right">Waited</th>
            <th>Budget</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST).map((row) => (
            <Line key={row.name ?? ''} row={row} by={by} measure={measure} share={measure.of(row) / most} />
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <td class="number">{measure.name === 'cost' ? renderPrice(total) : measure.show(measure.of(total))}</td>
            {measure.name === 'cost' ? null : <td class="right number">{renderPrice(total)}</td>}
            <Amounts spent={total} />
            <td />
          </tr>
        </tfoot>
      </table>
      {rows.length > MOST ? (
        <p class="dim">
          {renderCount(rows.length - MOST)} more: <code>baton costs --by {by}</code>
        </p>
      ) : null}
    </div>
  );
}

interface LineProps {
  readonly row: Row;
  readonly by: Costs['by'];
  readonly measure: Measure;
  readonly share: number;
}

function Line({ row, by, measure, share }: LineProps) {
  const shown = measure.name === 'cost' ? renderPrice(row) : measure.show(measure.of(row));
  return (
    <tr
      data-cost={row.name ?? ''}
      title={
        row.unpriced_tokens > 0
          ? `${renderAmount(row.unpriced_tokens)} of ${renderAmount(tokensIn(row))} tokens have no known price`
          : undefined
      }
    >
      <th scope="row">
        <Name name={row.name} by={by} />
      </th>
      <td>
        <Meter share={share} label={shown} />
      </td>
      {measure.name === 'cost' ? null : <td class="right number">{renderPrice(row)}</td>}
      <Amounts spent={row} />
      <td>
        <BudgetMeter budget={row.budget} />
      </td>
    </tr>
  );
}

function Amounts({ spent }: { readonly spent: Costs['total'] }) {
  return (
    <>
      <td class="right number">{renderAmount(spent.input_tokens)}</td>
      <td class="right number">{renderAmount(spent.output_tokens)}</td>
      <td class="right number">{renderAmount(spent.cached_tokens)}</td>
      <td class="right number">{renderCount(spent.turns)}</td>
      <td class="right number">{renderSpan(spent.work_ms)}</td>
      <td class="right number">{renderSpan(spent.wait_ms)}</td>
    </>
  );
}

function Name({ name, by }: { readonly name: string | null; readonly by: Costs['by'] }) {
  if (name === null) return <span class="dim">{by === 'model' ? 'no model named' : `outside of any ${by}`}</span>;
  if (by !== 'task') return <Words text={name} most={100} />;
  return (
    <a href={hrefTo({ view: 'tasks', id: name })}>
      <Words text={name} most={100} />
    </a>
  );
}
