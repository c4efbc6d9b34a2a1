import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { builtInWorkers } from '../src/simulator/built-in-workers.ts';
import { Explorer, findScenario, nameOf } from '../src/simulator/coverage.ts';
import { createScenario, type Scenario } from '../src/simulator/scenario.ts';
import { type RunResult, simulate } from '../src/simulator/simulation.ts';
import { shrink } from '../src/simulator/shrink.ts';
import { renderStory } from '../src/simulator/story.ts';

/**
 * Runs the simulator: `--seeds N` fresh seeds (`--from SEED` to begin at a certain one), `--seed S` one seed with its
 * story, `--scenario FILE` a fixture, `--minutes M` until the time is over. A failing seed is shrunk, told in words, and kept as a fixture.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    from: { type: 'string' },
    minutes: { type: 'string' },
    scenario: { type: 'string' },
    steer: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const FIXTURES = join(import.meta.dirname, '..', 'test', 'simulator', 'fixtures');
const setup = { workers: builtInWorkers() };
if (values.scenario !== undefined) {
  const scenario = JSON.parse(readFileSync(values.scenario, 'utf8')) as Scenario; // oxlint-disable-line typescript/no-unsafe-type-assertion
  console.log(renderStory(simulate(scenario, setup)));
  process.exit();
}
const from = Number(values.from ?? Math.floor(Date.now() / 1000));
const most = values.seed === undefined ? Number(values.seeds ?? (values.minutes === undefined ? 1000 : Infinity)) : 1;
const untilMs = performance.now() + (values.minutes === undefined ? Infinity : Number(values.minutes) * 60_000);

const explorer = new Explorer(from);
const next = (i: number): Scenario => {
  if (values.seed !== undefined) return findScenario(values.seed);
  return values.steer ? explorer.next() : createScenario(from + i);
};
const begin = { ms: performance.now(), cpu: process.cpuUsage().user };
const totals = { runs: 0, entries: 0, merges: 0 };
const failures: RunResult[] = [];
for (let i = 0; i < most && performance.now() < untilMs; i += 1) {
  const result = simulate(next(i), setup);
  explorer.learn(result);
  totals.runs += 1;
  totals.entries += result.entries.length;
  totals.merges += result.merges;
  if (result.violation !== undefined) keep(result);
  if (totals.runs % 5000 === 0) console.log(summary());
}
console.log(summary());
process.exitCode = failures.length === 0 ? 0 : 1;

/** Shrinks a failure and prints its story; the first of each invariant becomes a fixture. */
function keep(result: RunResult): void {
  const isNew = !failures.some(({ violation }) => violation?.invariant === result.violation?.invariant);
  failures.push(result);
  const { violation, scenario } = result;
  console.log(`seed ${nameOf(scenario)}: ${violation?.invariant ?? ''}: ${violation?.text ?? ''}`);
  if (!isNew) return;
  const small = shrink(result, setup);
  console.log(`${renderStory(small)}\n`);
  mkdirSync(FIXTURES, { recursive: true });
  const name = `${small.violation?.invariant ?? 'unknown'}-${nameOf(result.scenario)}.json`;
  writeFileSync(join(FIXTURES, name), `${JSON.stringify(small.scenario, null, 2)}\n`);
  console.log(`Kept as test/simulator/fixtures/${name}; the test of the simulator plays it from now on.\n`);
}

function summary(): string {
  const { runs, entries, merges } = totals;
  const seconds = (performance.now() - begin.ms) / 1000;
  const cpu = (process.cpuUsage().user - begin.cpu) / 1e6;
  const { pairs, types } = explorer.coverage;
  return [
    `${runs} runs from seed ${values.seed ?? from}, ${entries} entries, ${failures.length} violations`,
    `${Math.round(entries / seconds)} entries/s (${Math.round(entries / cpu)} per CPU second), ${(merges / runs).toFixed(2)} merges per run`,
    `coverage: ${types.size} entry types, ${pairs.size} pairs`,
  ].join('\n');
}
