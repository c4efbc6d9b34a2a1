import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { checkOutCommit } from '../scripts/checkout-commit.ts';
import type * as Contending from './handoff/baton.ts';
import type { Race } from './handoff/contender.ts';
import type * as Figures from './handoff/figures.ts';
import type * as Racing from './handoff/race.ts';
import type { Benchmark, Measure } from './measure.ts';

/**
 * `node bench/compare.ts --base COMMIT [--rounds 3] [NAME …]`: compares start-up, hooks, appends and handoffs of a
 * commit and of this checkout, which take turns in one run, by the ratio of the best of each. Each checkout is measured
 * with its own benchmarks, in separate processes.
 */
const NAMES = ['start', 'hooks', 'ledger', 'handoff'];
/** Differences below this are noise. */
const TOLERANCE = 0.05;
const WARM_UP = 300;
const printed = new Set<string>();

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    base: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    /** An internal option for the processes that this script starts. */
    root: { type: 'string' },
  },
});
const names = positionals.length === 0 ? NAMES : positionals;
const unknown = names.filter((name) => !NAMES.includes(name));
if (unknown.length > 0 || (options.base === undefined && options.root === undefined)) {
  console.error(`Usage: node bench/compare.ts --base COMMIT [--rounds N] [${NAMES.join('|')} …]`);
  process.exit(2);
}

if (options.root !== undefined) {
  const measured = await Promise.all(names.map(async (name) => measure(options.root ?? '', name)));
  console.log(JSON.stringify(measured.flat()));
} else compareWith(options.base ?? '');

function compareWith(commit: string): void {
  using checkout = checkOutCommit(commit);
  const roots = [checkout.path, join(import.meta.dirname, '..')];
  const best = roots.map(() => new Map<string, Figure>());
  for (const name of names) {
    for (let round = 0; round < Number(options.rounds); round += 1) {
      // The order of the two checkouts alternates.
      for (const side of round % 2 === 0 ? [0, 1] : [1, 0]) keepBest(best[side], measureApart(roots[side], name));
    }
    print(name, best);
  }
}

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly isRate: boolean;
  /** The value relative to the bare limit that the same process measured, since a busy machine slows both down. */
  readonly relative: number;
}

function keepBest(known: Map<string, Figure> | undefined, figures: readonly Figure[]): void {
  for (const figure of figures) {
    const before = known?.get(figure.name);
    const isBetter = before === undefined || figure.relative < before.relative !== figure.isRate;
    if (isBetter) known?.set(figure.name, figure);
  }
}

function print(group: string, [base, now]: readonly Map<string, Figure>[]): void {
  for (const { name, value, unit, isRate, relative } of now?.values() ?? []) {
    const before = base?.get(name);
    if (before === undefined || printed.has(name)) continue;
    printed.add(name);
    const ratio = relative / before.relative;
    const isWorse = isRate ? ratio < 1 - TOLERANCE : ratio > 1 + TOLERANCE;
    if (isWorse) process.exitCode = 1;
    const mark = isWorse ? 'WORSE' : 'ok   ';
    const goal = isRate ? 'more is better' : 'less is better';
    console.log(
      `${mark} ${group}: ${name}: ${show(value)} ${unit}, was ${show(before.value)}; ratio ${ratio.toFixed(2)} (${goal})`,
    );
  }
}

function show(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

function measureApart(root: string | undefined, name: string): readonly Figure[] {
  const args = ['--disable-warning=ExperimentalWarning', import.meta.filename, '--root', root ?? '', name];
  const env = { BATON_BENCH_ENTRIES: '20000', ...process.env };
  const out = execFileSync(process.execPath, args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'inherit'] });
  return JSON.parse(out.trim().split('\n').at(-1) ?? '[]') as readonly Figure[]; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

async function measure(root: string, name: string): Promise<readonly Figure[]> {
  if (name === 'handoff') return measureHandoff(root);
  const module = await load(root, `bench/${name}.ts`);
  const benchmark = module[name] as Benchmark; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return (await benchmark.run()).map(figureOf);
}

function figureOf({ name, value, unit, goal, ratio }: Measure): Figure {
  return { name, value, unit, isRate: goal.startsWith('≥'), relative: ratio };
}

/** Measures Baton alone: `npm run bench handoff` also runs its peers, and gives no figure if none is installed. */
async function measureHandoff(root: string): Promise<readonly Figure[]> {
  // Long enough to complete the warm-up rounds even on a busy machine.
  const one: Race = { batons: 1, workMs: 3, handoffs: WARM_UP + 500, limitMs: 120_000 };
  const many: Race = { batons: 32, workMs: 0, handoffs: 30_000, limitMs: 6000 };
  /* oxlint-disable typescript/no-unsafe-type-assertion -- the modules of another checkout */
  const { race } = (await load(root, 'bench/handoff/race.ts')) as typeof Racing;
  const { baton } = (await load(root, 'bench/handoff/baton.ts')) as typeof Contending;
  const figures = (await load(root, 'bench/handoff/figures.ts')) as typeof Figures;
  /* oxlint-enable typescript/no-unsafe-type-assertion */
  const { medianMs, p99Ms } = figures.latencyOf(await race(baton, one), WARM_UP);
  const perSecond = figures.throughputOf(await race(baton, many));
  return [
    { name: 'handoff, median', value: medianMs, unit: 'ms', isRate: false, relative: medianMs },
    { name: 'handoff, p99', value: p99Ms, unit: 'ms', isRate: false, relative: p99Ms },
    { name: 'handoffs, 32 at once', value: perSecond, unit: 'per second', isRate: true, relative: perSecond },
  ];
}

async function load(root: string, path: string): Promise<Record<string, unknown>> {
  const file = join(root, path);
  if (!existsSync(file)) throw new Error(`there is no ${path} in ${root}`);
  return (await import(pathToFileURL(file).href)) as Record<string, unknown>; // oxlint-disable-line typescript/no-unsafe-type-assertion
}
