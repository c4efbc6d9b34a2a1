import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { INSTRUMENT_NAMES, instrumentOf, prometheusName } from './instruments.ts';
import { TELEMETRY_LIMITS } from './limits.ts';
import { SPAN_KINDS } from './spans.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/telemetry.md'), 'utf8');
const API = '@opentelemetry/api';
const inCode = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

describe('docs/telemetry.md', () => {
  it('has every metric, and no other', () => {
    const rows = INSTRUMENT_NAMES.map((name) => {
      const { kind, labels, about } = instrumentOf(name);
      return `| \`${prometheusName(name)}\` | \`${name}\` | ${kind} | ${inCode(labels)} | ${about} |`;
    });
    expect(page.match(/^\| `baton_.*$/gm)).toEqual(rows);
  });

  it('has every kind of span, and no other', () => {
    const rows = Object.entries(SPAN_KINDS).map(
      ([kind, { from, to, parents }]) => `| \`${kind}\` | ${from} | ${to} | ${inCode(parents) || '–'} |`,
    );
    expect(page.match(/^\| `[a-z]+` \|.*$/gm)).toEqual(rows);
  });

  it.each(['otel.mjs', 'collector.yaml'])('shows examples/telemetry/%s as it is', (file) => {
    expect(page).toContain(`\n${readFileSync(join(root, 'examples/telemetry', file), 'utf8')}\`\`\`\n`);
  });

  it('installs the versions that the tests use', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const installed = [...page.matchAll(/(@opentelemetry\/[a-z-]+)@([\d.]+)/g)].filter(([, name]) => name !== API);
    expect(installed.length).toBe(5);
    for (const [, name = '', version = ''] of installed) expect(devDependencies[name]).toMatch(`^${version}.`);
  });

  it('names the limits', () => {
    const { replayedEntries, openTraces, spansPerTrace, seriesPerInstrument, lateSpansMs } = TELEMETRY_LIMITS;
    for (const limit of [replayedEntries, openTraces, spansPerTrace, seriesPerInstrument, lateSpansMs / 60_000])
      expect(page).toContain(` ${limit.toLocaleString('en')} `);
  });
});
