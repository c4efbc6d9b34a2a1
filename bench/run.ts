import { fleet } from './fleet.ts';
import { handoff } from './handoff.ts';
import { hooks } from './hooks.ts';
import { ledgerPostgres } from './ledger-postgres.ts';
import { ledger } from './ledger.ts';
import { load } from './load.ts';
import type { Benchmark, Measure } from './measure.ts';
import { describe } from './measure.ts';
import { nextActions } from './next-actions.ts';
import { page } from './page.ts';
import { parse } from './parse.ts';
import { sandbox } from './sandbox.ts';
import { start } from './start.ts';
import { state } from './state.ts';

/** `npm run bench [NAME …] [-- --json] [-- --minutes N]`: prints one line per measure, each with its limit or peer. */
const BENCHMARKS: readonly Benchmark[] = [
  start,
  parse,
  ledger,
  ledgerPostgres,
  nextActions,
  handoff,
  fleet,
  hooks,
  sandbox,
  page,
  state,
  load,
];

const minutes = process.argv.indexOf('--minutes');
const names = process.argv.slice(2).filter((word, i) => !word.startsWith('-') && i + 1 !== minutes);
const asJson = process.argv.includes('--json');
const unknown = names.filter((name) => !BENCHMARKS.some((benchmark) => benchmark.name === name));
if (unknown.length > 0) {
  console.error(
    `Error: no such benchmark: ${unknown.join(', ')}. There are: ${BENCHMARKS.map(({ name }) => name).join(', ')}`,
  );
  process.exit(2);
}

const measures: Measure[] = [];
for (const benchmark of BENCHMARKS) {
  if (names.length > 0 && !names.includes(benchmark.name)) continue;
  const taken = await benchmark.run();
  measures.push(...taken);
  if (!asJson) for (const measure of taken) console.log(describe(measure));
}
if (asJson) console.log(JSON.stringify(measures, null, 2));
if (measures.some(({ met }) => !met)) process.exitCode = 1;
