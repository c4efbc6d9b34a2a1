/** The price of a model in thousandths of a cent per million tokens. A name that ends with `*` is a prefix. */
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

export function findPrice(prices: readonly Price[], model: string | null): Price | undefined {
  if (model === null) return undefined;
  const own = prices.find((price) => price.model === model);
  if (own !== undefined) return own;
  const fitting = prices.filter((price) => price.model.endsWith('*') && model.startsWith(price.model.slice(0, -1)));
  return fitting.toSorted((a, b) => b.model.length - a.model.length)[0];
}

/** The cost in thousandths of a cent, rounded up so that no use is free. */
export function costOf({ input, output, cached }: TokenCounts, price: Price): number {
  return Math.ceil((input * price.input + output * price.output + cached * price.cached) / 1_000_000);
}

/**
 * Renders dollars such as `$2.50`, with up to five decimals if needed, because a single turn may cost less than a cent.
 */
export function renderDollars(millicents: number): string {
  const sign = millicents < 0 ? '-' : '';
  const whole = Math.abs(millicents);
  const dollars = Math.floor(whole / 100_000);
  const fraction = String(whole % 100_000)
    .padStart(5, '0')
    .replace(/0{1,3}$/, '');
  return `${sign}$${dollars}.${fraction}`;
}

export const PRICES_AS_OF = '2026-11-17';
/** Dollars per million tokens: input, output, cached input. */
type Row = readonly [model: string, input: number, output: number, cached: number];

/**
 * Public list prices, not verified against a bill; `[prices]` in the runbook overrides them. An unknown model has no
 * price.
 */
const ROWS: readonly Row[] = [
  ['claude-fable-5*', 10, 50, 1],
  ['claude-mythos-5*', 10, 50, 1],
  ['claude-opus-5-5*', 4, 20, 0.2],
  ['claude-opus-5*', 5, 25, 0.5],
  ['claude-opus-4-8*', 5, 25, 0.5],
  ['claude-opus-4-7*', 5, 25, 0.5],
  ['claude-opus-4-6*', 5, 25, 0.5],
  ['claude-opus-4-5*', 5, 25, 0.5],
  ['claude-opus-4-1*', 15, 75, 1.5],
  ['claude-opus-4-2025*', 15, 75, 1.5],
  ['claude-sonnet-5-5*', 2, 10, 0.1],
  ['claude-sonnet-5*', 2, 10, 0.2],
  ['claude-sonnet-4*', 3, 15, 0.3],
  ['claude-haiku-5-5*', 0.1, 0.5, 0.01],
  ['claude-haiku-4-5*', 1, 5, 0.1],
  ['gpt-6.1-sol*', 2, 10, 0.1],
  ['gpt-6-astra*', 10, 50, 1],
  ['gpt-6-sol*', 2, 10, 0.2],
  ['gpt-6-luna*', 0.1, 0.5, 0.01],
  ['gpt-5.6-sol*', 4, 20, 0.4],
  ['gpt-5.6-terra*', 2, 12, 0.2],
  ['gpt-5.6-luna*', 0.2, 1.2, 0.02],
  ['gpt-5.5*', 5, 30, 0.5],
  ['gpt-5.5-pro*', 30, 180, 30],
  ['gpt-5.4*', 2.5, 15, 0.25],
  ['gpt-5.4-pro*', 30, 180, 30],
  ['gpt-5.4-mini*', 0.75, 4.5, 0.075],
  ['gpt-5.4-nano*', 0.2, 1.25, 0.02],
  ['gpt-5.3*', 1.75, 14, 0.175],
  ['gpt-5.2*', 1.75, 14, 0.175],
  ['gpt-5.2-pro*', 21, 168, 21],
  ['gpt-5.1*', 1.25, 10, 0.125],
  ['gpt-5', 1.25, 10, 0.125],
  ['gpt-5-*', 1.25, 10, 0.125],
  ['gpt-5-pro*', 15, 120, 15],
  ['gpt-5-mini*', 0.25, 2, 0.025],
  ['gpt-5-nano*', 0.05, 0.4, 0.005],
  ['gemini-3.8-flash*', 0.75, 3.75, 0.075],
  ['gemini-3.5-flash*', 1.5, 9, 0.15],
  ['gemini-3.5-flash-lite*', 0.3, 2.5, 0.03],
  ['gemini-3.1-pro*', 2, 12, 0.2],
  ['gemini-3-pro*', 2, 12, 0.2],
  ['gemini-3-flash*', 0.5, 3, 0.05],
  ['gemini-2.5-pro*', 1.25, 10, 0.125],
  ['gemini-2.5-flash*', 0.3, 2.5, 0.03],
  ['gemini-2.5-flash-lite*', 0.1, 0.4, 0.01],
];

const millicents = (dollars: number): number => Math.round(dollars * 100_000);

const LISTED: readonly Price[] = ROWS.map(([model, input, output, cached]) => ({
  model,
  input: millicents(input),
  output: millicents(output),
  cached: millicents(cached),
}));

/** The names under which requests are counted whose model neither the request nor the answer names, by API. */
export const UNKNOWN_MODELS = {
  anthropic: 'unknown model of anthropic',
  openai: 'unknown model of openai',
  gemini: 'unknown model of gemini',
} as const;

/** An unknown model costs as much as the dearest known one of its API. */
function dearest(model: string, family: string): Price {
  const most = (name: 'input' | 'output' | 'cached'): number =>
    Math.max(...LISTED.filter((price) => price.model.startsWith(family)).map((price) => price[name]));
  return { model, input: most('input'), output: most('output'), cached: most('cached') };
}

export const DEFAULT_PRICES: readonly Price[] = [
  ...LISTED,
  dearest(UNKNOWN_MODELS.anthropic, 'claude-'),
  dearest(UNKNOWN_MODELS.openai, 'gpt-'),
  dearest(UNKNOWN_MODELS.gemini, 'gemini-'),
];

export function findPriceOrDefault(own: readonly Price[], model: string | null): Price | undefined {
  return findPrice(own, model) ?? findPrice(DEFAULT_PRICES, model);
}
