import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { INVARIANTS } from '../src/simulator/auditor/invariants.ts';
import { Runner } from './mutation/runner.ts';
import { PLANTED_BUGS, type PlantedBug } from '../test/simulator/planted-bugs.ts';

/**
 * Plants one mistake after the other into the kernel, while it is loaded, and states in which seed the simulator finds
 * it: `--seeds N` the most seeds for each (1,000), `--only TEXT` the bugs whose name contains it, `--without INVARIANT`
 * what is still found without an invariant, `--each-invariant` which bug passes without each. The files stay as they
 * are. Fails if a text to replace is gone, or if a bug is not found. A seed that fails without the bug, too, does not
 * count.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
    without: { type: 'string', default: '' },
    'each-invariant': { type: 'boolean', default: false },
    plant: { type: 'string' },
  },
});
const ROOT = join(import.meta.dirname, '..');
if (values.plant === undefined) await tryAll();
else await tryOne(values.plant);

interface Found {
  readonly seed: number;
  readonly invariant: string;
  readonly text: string;
}

async function tryAll(): Promise<void> {
  const bugs = PLANTED_BUGS.filter(({ name }) => name.includes(values.only));
  for (const each of bugs) for (const part of [each, ...(each.more ?? [])]) checkText(each.name, part);
  const simulateSeed = await loadSimulator();
  const failsAnyway = (seed: number): boolean => simulateSeed(seed) !== undefined;
  const firsts: number[] = [];
  const lost: string[] = [];
  const foundBy = new Map<string, { readonly name: string; readonly runs: number }[]>();
  for (const bug of bugs) {
    const { name } = bug;
    if (bug.test !== undefined) {
      const failed = await findByTest(bug, bug.test);
      if (!failed) lost.push(name);
      console.log(`${failed ? 'by test  ' : 'NOT FOUND'}  ${name}  (${bug.test})`);
      continue;
    }
    const found = findInChild(name, failsAnyway, values.without);
    if (found === undefined) lost.push(name);
    else {
      firsts.push(found.runs);
      foundBy.set(found.invariant, [...(foundBy.get(found.invariant) ?? []), { name, runs: found.runs }]);
    }
    console.log(
      found === undefined
        ? `NOT FOUND  ${name}`
        : `${String(found.runs).padStart(4)} runs  ${name}  (${found.invariant}: ${found.text.slice(0, 90)})`,
    );
  }
  firsts.sort((a, b) => a - b);
  console.log(
    `${bugs.length - lost.length} of ${bugs.length} planted bugs found, ${firsts.length} by the simulator; median ${firsts[firsts.length >> 1] ?? 0} runs, most ${firsts.at(-1) ?? 0}`,
  );
  const idle = values['each-invariant'] ? listIdle(foundBy, failsAnyway) : [];
  process.exitCode = lost.length === 0 && idle.length === 0 ? 0 : 1;
}

/** Runs the test of code that the simulator does not have, without the bug and with it. */
async function findByTest({ file, from, to }: PlantedBug, test: string): Promise<boolean> {
  const code = readFileSync(join(ROOT, file), 'utf8');
  const start = code.indexOf(from);
  const mutant = { file, line: 0, kind: 'planted', start, end: start + from.length, from, to };
  const runner = new Runner();
  const now = await runner.run({ mutant: null, tests: [test] });
  const then = await runner.run({ mutant, tests: [test] });
  runner.end();
  return now === null && then !== null;
}

/** The invariants without which every bug is still found: nothing shows that they are needed. */
function listIdle(
  foundBy: ReadonlyMap<string, readonly { readonly name: string; readonly runs: number }[]>,
  failsAnyway: (seed: number) => boolean,
): readonly string[] {
  return Object.keys(INVARIANTS).filter((invariant) => {
    const bugs = (foundBy.get(invariant) ?? []).map(({ name, runs }) => {
      return { name, runs, later: findInChild(name, failsAnyway, invariant)?.runs };
    });
    // Where another invariant finds the same mistakes in other runs, it does so later.
    const passes = bugs.find(({ later }) => later === undefined) ?? bugs.find(({ runs, later = runs }) => later > runs);
    const how =
      passes?.later === undefined ? 'is not found' : `is found after ${passes.later} runs, not ${passes.runs}`;
    console.log(
      `without ${invariant}: ${passes === undefined ? 'every planted bug is still found' : `${passes.name} ${how}`}`,
    );
    return passes === undefined;
  });
}

/** Runs seeds in a process with the bug. A seed that fails without the bug, too, proves nothing. */
function findInChild(
  name: string,
  failsAnyway: (seed: number) => boolean,
  without: string,
): (Found & { readonly runs: number }) | undefined {
  const most = Number(values.from) + Number(values.seeds);
  for (let from = Number(values.from); from < most;) {
    const args = [
      '--disable-warning=ExperimentalWarning',
      import.meta.filename,
      '--plant',
      name,
      '--from',
      String(from),
    ];
    const child = spawnSync(process.execPath, [...args, '--seeds', String(most - from), '--without', without], {
      encoding: 'utf8',
      maxBuffer: 1e8,
    });
    if (child.status !== 0) throw new Error(`${name}: ${child.stderr}`);
    const found = JSON.parse(child.stdout) as Found | null; // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (found === null) return undefined;
    if (!failsAnyway(found.seed)) return { ...found, runs: found.seed - Number(values.from) + 1 };
    from = found.seed + 1;
  }
  return undefined;
}

async function tryOne(name: string): Promise<void> {
  const bug = PLANTED_BUGS.find((each) => each.name === name);
  if (bug === undefined) throw new Error(`there is no planted bug ${name}`);
  plant([bug, ...(bug.more ?? [])]);
  const simulateSeed = await loadSimulator();
  const from = Number(values.from);
  for (let seed = from; seed < from + Number(values.seeds); seed += 1) {
    const violation = simulateSeed(seed);
    if (violation === undefined) continue;
    process.stdout.write(JSON.stringify({ seed, ...violation }));
    return;
  }
  process.stdout.write('null');
}

type Part = Pick<PlantedBug, 'file' | 'from' | 'to'>;

/** Replaces texts of modules while they are loaded. */
function plant(parts: readonly Part[]): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const own = parts.filter(({ file }) => url.startsWith('file:') && fileURLToPath(url) === join(ROOT, file));
      if (own.length === 0) return loaded;
      const source = own.reduce(
        (text, { from, to }) => text.replace(from, () => to),
        readFileSync(fileURLToPath(url), 'utf8'),
      );
      return { ...loaded, source };
    },
  });
}

function checkText(name: string, { file, from }: Part): void {
  const count = readFileSync(join(ROOT, file), 'utf8').split(from).length - 1;
  if (count !== 1) throw new Error(`${name}: ${file} has ${count} times the text to replace:\n${from}`);
}

async function loadSimulator(): Promise<(seed: number) => Omit<Found, 'seed'> | undefined> {
  const { simulate } = await import('../src/simulator/simulation.ts');
  const { createScenario } = await import('../src/simulator/scenario.ts');
  const { builtInWorkers } = await import('../src/simulator/built-in-workers.ts');
  const setup = { workers: builtInWorkers(), without: new Set([values.without]) };
  return (seed) => {
    const { violation } = simulate(createScenario(seed), setup);
    return violation === undefined ? undefined : { invariant: violation.invariant, text: violation.text };
  };
}
