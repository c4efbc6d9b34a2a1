import type { Costs } from '../../../api/operations/project.ts';
import { renderAmount, renderMoney } from '../../kit/numbers.ts';
import { renderSpan } from '../../kit/time.tsx';
import { roundSteps, roundTimeSteps } from '../../model/fleet/day-plot.ts';

export type Spent = Costs['total'];

/** The measure that bars and the plot show. */
export interface Measure {
  readonly name: 'cost' | 'tokens' | 'time';
  readonly title: string;
  readonly of: (spent: Spent) => number;
  readonly show: (value: number) => string;
  /** A short form for an axis. */
  readonly axis: (value: number) => string;
  readonly steps: (most: number) => readonly number[];
}

export const MEASURES: readonly [Measure, ...Measure[]] = [
  {
    name: 'cost',
    title: 'Cost',
    of: ({ cost_millicents }) => cost_millicents,
    show: renderMoney,
    axis: renderMoney,
    steps: roundSteps,
  },
  { name: 'tokens', title: 'Tokens', of: tokensIn, show: renderAmount, axis: renderAmount, steps: roundSteps },
  {
    name: 'time',
    title: 'Time worked',
    of: ({ work_ms }) => work_ms,
    show: renderSpan,
    axis: renderAxisTime,
    steps: roundTimeSteps,
  },
];

/**
 * Chooses the measure in the address; else the first with a value: clients without prices or token counts still report
 * time.
 */
export function chooseMeasure(name: string | undefined, total: Spent | undefined): Measure {
  const named = MEASURES.find((measure) => measure.name === name);
  return named ?? MEASURES.find(({ of }) => total !== undefined && of(total) > 0) ?? MEASURES[0];
}

export function tokensIn({ input_tokens, output_tokens, cached_tokens }: Spent): number {
  return input_tokens + output_tokens + cached_tokens;
}

/** Renders a cost. A + marks a lower bound, because some tokens have no known price. */
export function renderPrice({ cost_millicents, unpriced_tokens }: Spent): string {
  return `${renderMoney(cost_millicents)}${unpriced_tokens > 0 ? '+' : ''}`;
}

function renderAxisTime(ms: number): string {
  if (ms < 60_000) return `${ms / 1000} s`;
  return ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`;
}
