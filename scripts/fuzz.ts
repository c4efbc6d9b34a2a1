import { parseArgs } from 'node:util';
import { DIALECTS } from '../test/fuzz/dialects.ts';
import { fuzzDialect } from '../test/fuzz/fuzz-dialect.ts';

/**
 * `npm run fuzz`: feeds mutated messages of every kind to their parsers. The same seed gives the same messages, so a
 * failure can be repeated: `npm run fuzz -- --seed 7 --only mission`.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '100000' },
    only: { type: 'string' },
  },
});
const options = { seed: wholeNumber('seed'), count: wholeNumber('count'), timeLimitMs: 250 };
const chosen = DIALECTS.filter(({ name }) => values.only === undefined || values.only === name);
if (chosen.length === 0) usage(`--only takes one of: ${DIALECTS.map(({ name }) => name).join(', ')}`);

console.log(`seed ${options.seed}, ${options.count} messages per dialect`);
for (const dialect of chosen) {
  const start = performance.now();
  const { accepted, refused, slowestMs, failures } = fuzzDialect(dialect, DIALECTS, options);
  const perSecond = Math.round(((accepted + refused) / (performance.now() - start)) * 1000);
  console.log(
    `${dialect.name.padEnd(18)} ${accepted} accepted, ${refused} refused, ${failures.length} failures; ` +
      `${perSecond}/s, slowest ${slowestMs.toFixed(1)} ms`,
  );
  for (const { what, input } of failures) console.log(`  ${what}\n    ${JSON.stringify(asText(input))}`);
  if (failures.length > 0) process.exitCode = 1;
}

function asText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

function wholeNumber(name: 'seed' | 'count'): number {
  const value = Number(values[name]);
  if (!Number.isSafeInteger(value) || value < 0) usage(`--${name} takes a whole number`);
  return value;
}

function usage(what: string): never {
  console.error(`${what}\nUsage: npm run fuzz -- [--seed N] [--count N] [--only DIALECT]`);
  process.exit(2);
}
