import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseExitSignal } from '../src/protocol/exit-signal/exit-signal.ts';
import type { Benchmark } from './measure.ts';
import { atMost, median } from './measure.ts';

const BATCH = 20_000;

/** Parses and checks a typical exit signal. */
export const parse: Benchmark = {
  name: 'parse',
  async run() {
    const text = readFileSync(join(import.meta.dirname, '../test/fixtures/exit/schema.json'), 'utf8');
    const ours = medianUs(() => parseExitSignal(text).ok);
    return [atMost(1, { name: 'parseExitSignal', value: ours, unit: 'µs', against: 'the goal of', limit: 10 })];
  },
};

function medianUs(once: () => boolean): number {
  const batches = Array.from({ length: 15 }, () => {
    const before = performance.now();
    for (let i = 0; i < BATCH; i++) if (!once()) throw new Error('the sample must be valid');
    return ((performance.now() - before) * 1000) / BATCH;
  });
  return median(batches.slice(5));
}
