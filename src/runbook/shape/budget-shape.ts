import type { Price } from '../../protocol/price.ts';
import type { BudgetPlan } from '../../protocol/run-plan.ts';
import type { MapShape, ObjectShape, TextShape, ValueOf } from '../../protocol/shape/shape.ts';
import { parseDuration, parseMillicents } from './duration.ts';
import { durationField } from './fields.ts';

const dollars = {
  kind: 'text',
  pattern: '^\\$?[0-9]{1,6}(\\.[0-9]{1,5})?$',
  expected: 'dollars such as $2.50',
} as const satisfies TextShape;

/** A price may be nothing. What may be used may not: a budget is raised by its own amount, and nothing so often is nothing. */
const someDollars = {
  ...dollars,
  pattern: '^\\$?(?![0.]*$)[0-9]{1,6}(\\.[0-9]{1,5})?$',
  expected: 'dollars such as $2.50, and more than nothing',
} as const satisfies TextShape;

/** What may be used before a person is asked. Money is text: a number of a runbook would be a binary fraction. */
export const budgetShape = {
  kind: 'object',
  fields: {
    tokens: {
      kind: 'number',
      whole: true,
      min: 1,
      max: 1e12,
      optional: true,
      about: 'Tokens: in, out and cached, all together.',
    },
    cost: { ...someDollars, optional: true, about: 'Money, as in "$2.50".' },
    time: {
      ...durationField,
      optional: true,
      about: 'Time at work, as in "2h"; what is spent waiting does not count.',
    },
  },
} as const satisfies ObjectShape;

export type BudgetValue = ValueOf<typeof budgetShape>;

export function buildBudget({ tokens, cost, time }: BudgetValue): BudgetPlan {
  return {
    ...(tokens === undefined ? {} : { tokens }),
    ...(cost === undefined ? {} : { cost_millicents: parseMillicents(cost) }),
    ...(time === undefined ? {} : { time_ms: parseDuration(time) }),
  };
}

/** For clients that count tokens and name no price. */
export const pricesShape = {
  kind: 'map',
  optional: true,
  about:
    'What a million tokens of a model costs, for clients that name no price; `*` at the end of a name is any rest.',
  names: {
    pattern: '^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}\\*?$',
    expected: 'the name of a model, or its beginning and *',
  },
  max: 200,
  of: {
    kind: 'object',
    fields: {
      input: { ...dollars, about: 'A million tokens in, as in "$3".' },
      output: { ...dollars, about: 'A million tokens out.' },
      cached: { ...dollars, optional: true, about: 'A million tokens from or into a cache; left out: as those in.' },
    },
  },
} as const satisfies MapShape;

export type PricesValue = ValueOf<typeof pricesShape>;

export function buildPrices(value: PricesValue): Price[] {
  return Object.entries(value).map(([model, { input, output, cached = input }]) => ({
    model,
    input: parseMillicents(input),
    output: parseMillicents(output),
    cached: parseMillicents(cached),
  }));
}
