/** One figure with the limit or the peer it is compared with, measured in the same run on the same machine. */
export interface Measure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The name of the limit or peer. */
  readonly against: string;
  readonly limit: number;
  readonly ratio: number;
  readonly goal: string;
  readonly met: boolean;
}

export interface Benchmark {
  readonly name: string;
  readonly run: () => Promise<readonly Measure[]>;
}

/** For costs: the value may be at most `times` the limit. */
export function atMost(times: number, measure: Omit<Measure, 'ratio' | 'goal' | 'met'>): Measure {
  const ratio = measure.value / measure.limit;
  return { ...measure, ratio, goal: `≤ ${times}`, met: ratio <= times };
}

/** For rates: the value must be at least `times` the limit. */
export function atLeast(times: number, measure: Omit<Measure, 'ratio' | 'goal' | 'met'>): Measure {
  const ratio = measure.value / measure.limit;
  return { ...measure, ratio, goal: `≥ ${times}`, met: ratio >= times };
}

export function describe({ name, value, unit, against, limit, ratio, goal, met }: Measure): string {
  const mark = met ? 'ok  ' : 'MISS';
  return `${mark} ${name}: ${show(value)} ${unit} | ${against}: ${show(limit)} ${unit} | ratio ${show(ratio)} (goal ${goal})`;
}

function show(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
