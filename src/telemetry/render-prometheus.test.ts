import { expect, it } from 'vitest';
import { INSTRUMENT_NAMES, prometheusName } from './instruments.ts';
import { TELEMETRY_LIMITS } from './limits.ts';
import { parsePrometheus } from './prometheus-text.cases.ts';
import { renderPrometheus } from './render-prometheus.ts';
import { Totals } from './totals.ts';

const render = (totals: Totals): Map<string, number> => parsePrometheus(renderPrometheus(totals, { version: '1.2.3' }));

it('names metrics with their unit', () => {
  expect(INSTRUMENT_NAMES.map(prometheusName)).toEqual(
    expect.arrayContaining(['baton_handoff_latency_seconds', 'baton_claims_total', 'baton_cost_dollars_total']),
  );
});

it('has the header of every metric from the start', () => {
  const text = renderPrometheus(new Totals(), { version: '1.2.3' });
  for (const name of INSTRUMENT_NAMES) expect(text).toContain(`# TYPE ${prometheusName(name)} `);
  expect([...parsePrometheus(text)]).toEqual([['baton_build_info{version="1.2.3"}', 1]]);
});

it('adds counters up, and sorts values into buckets', () => {
  const totals = new Totals();
  const labels = { project: 'demo', role: 'prep' };
  for (const value of [0.004, 0.005, 2, 9000]) totals.add({ instrument: 'baton.handoff.latency', value, labels });
  for (const value of [0.1, 0.2])
    totals.add({ instrument: 'baton.cost', value, labels: { project: 'demo', agent: 'a' } });
  const samples = render(totals);
  const of = (rest: string): number | undefined => samples.get(`baton_handoff_latency_seconds${rest}`);
  expect(of('_bucket{project="demo",role="prep",le="0.005"}')).toBe(2);
  expect(of('_bucket{project="demo",role="prep",le="5"}')).toBe(3);
  expect(of('_bucket{project="demo",role="prep",le="+Inf"}')).toBe(4);
  expect(of('_sum{project="demo",role="prep"}')).toBe(9002.009);
  expect(samples.get('baton_cost_dollars_total{project="demo",agent="a"}')).toBe(0.3);
});

it('counts under `other` when a metric has too many label values', () => {
  const totals = new Totals();
  const most = TELEMETRY_LIMITS.seriesPerInstrument;
  for (let i = 0; i < most + 40; i++)
    totals.add({ instrument: 'baton.claims', value: 1, labels: { project: 'demo', role: `r${i}` } });
  expect(totals.of('baton.claims')).toHaveLength(most + 1);
  expect(render(totals).get('baton_claims_total{project="other",role="other"}')).toBe(40);
});

it('escapes label values', () => {
  const totals = new Totals();
  totals.add({ instrument: 'baton.claims', value: 1, labels: { project: 'a"b\\c\nd', role: 'x' } });
  expect(renderPrometheus(totals, { version: '1' })).toContain(String.raw`{project="a\"b\\c\nd",role="x"} 1`);
  expect(render(totals).size).toBe(2);
});

it.each([
  'x 1\n',
  '# TYPE x counter\nx 1\n',
  '# TYPE x gauge\nx{a=1} 1\n',
  '# TYPE x gauge\nx one\n',
  '# TYPE x gauge\nx 1',
])('is checked strictly: %j is refused', (text) => {
  expect(() => parsePrometheus(text)).toThrow(/:|end/);
});
