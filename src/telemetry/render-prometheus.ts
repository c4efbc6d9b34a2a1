import { INSTRUMENT_NAMES, instrumentOf, type InstrumentName, prometheusName } from './instruments.ts';
import type { Series, Totals } from './totals.ts';

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Renders text format 0.0.4. A metric without values keeps its header, so that dashboards can find it. */
export function renderPrometheus(totals: Totals, { version }: { readonly version: string }): string {
  const build = [
    '# HELP baton_build_info Version of the daemon',
    '# TYPE baton_build_info gauge',
    `baton_build_info${renderLabels({ version })} 1`,
  ];
  const metrics = INSTRUMENT_NAMES.flatMap((name) => renderMetric(name, totals.of(name)));
  return `${[...build, ...metrics].join('\n')}\n`;
}

function renderMetric(instrument: InstrumentName, all: readonly Series[]): string[] {
  const name = prometheusName(instrument);
  const { kind, about, buckets = [] } = instrumentOf(instrument);
  const samples = all.flatMap((series) =>
    kind === 'counter'
      ? [`${name}${renderLabels(series.labels)} ${renderNumber(series.sum)}`]
      : renderHistogram(name, series, buckets),
  );
  return [`# HELP ${name} ${escape(about)}`, `# TYPE ${name} ${kind}`, ...samples];
}

function renderHistogram(name: string, { labels, sum, count, buckets }: Series, bounds: readonly number[]): string[] {
  let below = 0;
  const lines = bounds.map((bound, i) => {
    below += buckets[i] ?? 0;
    return `${name}_bucket${renderLabels({ ...labels, le: renderNumber(bound) })} ${below}`;
  });
  return [
    ...lines,
    `${name}_bucket${renderLabels({ ...labels, le: '+Inf' })} ${count}`,
    `${name}_sum${renderLabels(labels)} ${renderNumber(sum)}`,
    `${name}_count${renderLabels(labels)} ${count}`,
  ];
}

function renderLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escape(value).replaceAll('"', String.raw`\"`)}"`,
  );
  return `{${pairs.join(',')}}`;
}

/** Renders fifteen digits, because sums of fractions end in rounding noise. */
function renderNumber(value: number): string {
  return String(Number(value.toPrecision(15)));
}

function escape(text: string): string {
  return text.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`);
}
