import { COST_KINDS, type Costs } from '../api/operations/project.ts';
import { renderDollars } from '../protocol/price.ts';
import { renderElapsedTime } from '../protocol/text/text-format.ts';
import { renderUsageSource } from '../protocol/text/usage-source.ts';
import { operationCommand, pickOptions } from './operation-command.ts';
import { renderTable } from './table.ts';
import { printable, renderCount } from './text.ts';

/** A cost with a + is a lower bound, because some of its tokens have no known price. */
export function renderCosts({ by, rows, total, list_prices }: Costs): string {
  if (rows.length === 0) return 'No usage yet.\n';
  const lines = [
    [by.toUpperCase(), 'IN', 'OUT', 'CACHED', 'COST', 'WORKED', 'WAITED', 'TOKENS WAITING', 'BUDGET'],
    ...rows.map((row) => renderRow(row.name ?? NOBODY, row, row.budget)),
    ...(rows.length > 1 ? [renderRow('total', total, null)] : []),
  ];
  const isShort = [...rows, total].some(({ unpriced_tokens }) => unpriced_tokens > 0);
  return `${renderTable(lines)}${isShort ? UNPRICED : ''}${renderSource(total)}${renderPriceNote(list_prices)}`;
}

function renderSource(total: Costs['total']): string {
  const source = renderUsageSource(total);
  return source === undefined ? '' : `\n${source}\n`;
}

/** Stands for usage outside any pipeline or task, or of a client that names no model. */
const NOBODY = '-';
const UNPRICED = '\n+ Lower bound: some of the tokens have no known price. Add it to [prices] in the runbook.\n';

function renderPriceNote({ as_of, models }: Costs['list_prices']): string {
  if (models.length === 0) return '';
  return `\nIf the client names no price, Baton uses its list of ${as_of} for ${models.map(printable).join(', ')}. [prices] in the runbook overrides it.\n`;
}

function renderRow(name: string, spent: Costs['total'], used: Costs['rows'][number]['budget']): string[] {
  return [
    name,
    renderCount(spent.input_tokens),
    renderCount(spent.output_tokens),
    renderCount(spent.cached_tokens),
    renderPrice(spent),
    renderDuration(spent.work_ms),
    renderDuration(spent.wait_ms),
    renderCount(spent.waiting_tokens),
    used === null ? '' : renderBudget(used),
  ];
}

/** Renders one line: `12,345 tokens, $0.42+, 3m 10s of work`. */
export function renderCost(spent: {
  readonly tokens: number;
  readonly cost_millicents: number;
  readonly unpriced_tokens: number;
  readonly work_ms: number;
}): string {
  return `${renderCount(spent.tokens)} tokens, ${renderPrice(spent)}, ${renderDuration(spent.work_ms)} of work`;
}

function renderPrice(spent: Pick<Costs['total'], 'cost_millicents' | 'unpriced_tokens'>): string {
  return `${renderDollars(spent.cost_millicents)}${spent.unpriced_tokens > 0 ? '+' : ''}`;
}

export function renderBudget({ measure, used, limit, percent }: NonNullable<Costs['rows'][number]['budget']>): string {
  const show = measure === 'cost' ? renderDollars : measure === 'time' ? renderDuration : renderCount;
  const unit = measure === 'tokens' ? ' tokens' : '';
  return `${percent} % (${show(used)} of ${show(limit)}${unit})`;
}

function renderDuration(ms: number): string {
  return renderElapsedTime(Math.round(ms / 1000) * 1000);
}

export const costsCommand = operationCommand({
  examples: ['baton costs', 'baton costs --by day', 'baton costs --by task --json'],
  options: [
    { name: 'by', value: 'WHAT', choices: COST_KINDS, about: `Group by: ${COST_KINDS.join(', ')} (default agent)` },
  ],
  operation: 'costs_get',
  input: (given) => ({ value: pickOptions(given, { by: 'by' }) }),
  show: renderCosts,
});
