import { COST_KINDS } from '../api/operations/project.ts';
import { renderDollars } from '../protocol/price.ts';
import { renderElapsedTime } from '../protocol/text/text-format.ts';
import { operationCommand } from './operation-command.ts';
import { type Fields, fieldsIn, listIn, textIn } from './run/views.ts';
import { renderTable } from './table.ts';
import { printable } from './text.ts';

/** The table of costs for people. A cost with a + is more than that: nobody knows the price of some of the tokens. */
export function renderCosts(result: unknown): string {
  const { by, rows, total, list_prices } = fieldsIn(result);
  const found = listIn(rows);
  if (found.length === 0) return 'Nothing was used yet.\n';
  const lines = [
    [textIn(by), 'in', 'out', 'cached', 'cost', 'worked', 'waited', 'tokens waiting', 'budget'],
    ...found.map((row) => renderRow(row['name'] === null ? NOBODY : textIn(row['name']), row)),
    ...(found.length > 1 ? [renderRow('total', fieldsIn(total))] : []),
  ];
  const isShort = [...found, fieldsIn(total)].some((row) => numberIn(row, 'unpriced_tokens') > 0);
  return `${renderTable(lines)}${isShort ? UNPRICED : ''}${renderPriceNote(fieldsIn(list_prices))}`;
}

/** What was done in no pipeline, for no task, or by a client that names no model. */
const NOBODY = '-';

const UNPRICED = '\n+ More than that: no price is known for some of the tokens. Add one to [prices] of the runbook.\n';

/** Which models are priced by Baton's own list, and how old it is. */
function renderPriceNote({ as_of, models }: Fields): string {
  const names = Array.isArray(models) ? models.filter((model) => typeof model === 'string') : [];
  if (names.length === 0) return '';
  return `\nPriced by Baton's list of ${textIn(as_of)} if the client names no price: ${names.map(printable).join(', ')}. [prices] overrides it.\n`;
}

function renderRow(name: string, row: Fields): string[] {
  return [
    name,
    renderCount(numberIn(row, 'input_tokens')),
    renderCount(numberIn(row, 'output_tokens')),
    renderCount(numberIn(row, 'cached_tokens')),
    `${renderDollars(numberIn(row, 'cost_millicents'))}${numberIn(row, 'unpriced_tokens') > 0 ? '+' : ''}`,
    renderDuration(numberIn(row, 'work_ms')),
    renderDuration(numberIn(row, 'wait_ms')),
    renderCount(numberIn(row, 'waiting_tokens')),
    renderBudget(fieldsIn(row['budget'])),
  ];
}

function renderBudget(row: Fields): string {
  if (typeof row['percent'] !== 'number') return '';
  const [used, limit] = [numberIn(row, 'used'), numberIn(row, 'limit')];
  const measure = textIn(row['measure']);
  const show = measure === 'cost' ? renderDollars : measure === 'time' ? renderDuration : renderCount;
  const unit = measure === 'tokens' ? ' tokens' : '';
  return `${row['percent']} % (${show(used)} of ${show(limit)}${unit})`;
}

function numberIn(row: Fields, name: string): number {
  const value = row[name];
  return typeof value === 'number' ? value : 0;
}

function renderCount(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

function renderDuration(ms: number): string {
  return renderElapsedTime(Math.round(ms / 1000) * 1000);
}

export const costsCommand = operationCommand({
  name: 'costs',
  summary: 'Show the tokens, money and time used, and how much of each budget',
  examples: ['baton costs', 'baton costs --by day', 'baton costs --by task --json'],
  options: [
    { name: 'by', value: 'WHAT', about: `How it is added up: ${COST_KINDS.join(', ')}; agent where it is left out` },
  ],
  operation: 'costs_get',
  input: ({ options }) => {
    const by = options.get('by');
    if (by === undefined) return { value: {} };
    if (COST_KINDS.some((kind) => kind === by)) return { value: { by } };
    return { usage: `--by takes one of: ${COST_KINDS.join(', ')}` };
  },
  show: renderCosts,
});
