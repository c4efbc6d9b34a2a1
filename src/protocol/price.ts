/** What a model costs: thousandths of a cent for a million tokens. A name that ends with `*` is the beginning of one. */
export interface Price {
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

/** The price of a model: its own, or that of the longest beginning. */
export function findPrice(prices: readonly Price[], model: string | null): Price | undefined {
  if (model === null) return undefined;
  const own = prices.find((price) => price.model === model);
  if (own !== undefined) return own;
  const fitting = prices.filter((price) => price.model.endsWith('*') && model.startsWith(price.model.slice(0, -1)));
  return fitting.toSorted((a, b) => b.model.length - a.model.length)[0];
}

/** In thousandths of a cent; a part of one counts as a whole, so that nothing is for nothing. */
export function costOf({ input, output, cached }: TokenCounts, price: Price): number {
  return Math.ceil((input * price.input + output * price.output + cached * price.cached) / 1_000_000);
}

/** `$2.50`; with up to five digits where they are needed, since a single turn may cost less than a cent. */
export function renderDollars(millicents: number): string {
  const sign = millicents < 0 ? '-' : '';
  const whole = Math.abs(millicents);
  const dollars = Math.floor(whole / 100_000);
  const fraction = String(whole % 100_000)
    .padStart(5, '0')
    .replace(/0{1,3}$/, '');
  return `${sign}$${dollars}.${fraction}`;
}
