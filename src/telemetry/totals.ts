import { instrumentOf, type InstrumentName, type Measurement } from './instruments.ts';
import { OTHER_VALUE } from './label-value.ts';
import { TELEMETRY_LIMITS } from './limits.ts';

/** The sum of a counter; for a histogram also the number of values in each bucket. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  sum: number;
  count: number;
  /** One count per bound of the instrument, not cumulative; values above the last bound are only in `count`. */
  readonly buckets: number[];
}

/** Measurements since the daemon's start, summed per metric and label values. */
export class Totals {
  readonly #series = new Map<InstrumentName, Map<string, Series>>();

  add({ instrument, value, labels }: Measurement): void {
    const { buckets = [] } = instrumentOf(instrument);
    const series = this.#find(instrument, labels);
    series.sum += value;
    series.count += 1;
    const bucket = buckets.findIndex((bound) => value <= bound);
    if (bucket >= 0) series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  of(instrument: InstrumentName): readonly Series[] {
    return [...(this.#series.get(instrument)?.values() ?? [])];
  }

  #find(instrument: InstrumentName, given: Measurement['labels']): Series {
    const known = this.#series.get(instrument) ?? new Map<string, Series>();
    this.#series.set(instrument, known);
    const isFull = known.size >= TELEMETRY_LIMITS.seriesPerInstrument && !known.has(keyOf(instrument, given));
    const labels = isFull ? withoutValues(instrument) : given;
    const key = keyOf(instrument, labels);
    const { buckets = [] } = instrumentOf(instrument);
    const series = known.get(key) ?? { labels, sum: 0, count: 0, buckets: buckets.map(() => 0) };
    known.set(key, series);
    return series;
  }
}

function keyOf(instrument: InstrumentName, labels: Measurement['labels']): string {
  return instrumentOf(instrument)
    .labels.map((label) => labels[label] ?? '')
    .join('\n');
}

function withoutValues(instrument: InstrumentName): Measurement['labels'] {
  return Object.fromEntries(instrumentOf(instrument).labels.map((label) => [label, OTHER_VALUE]));
}
