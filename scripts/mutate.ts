import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../src/simulator/world/random.ts';
import { EXPLAINED } from '../test/mutation/explained.ts';
import { applyMutant, findMutants, type Mutant } from './mutation/mutants.ts';
import { pureFiles, Reach } from './mutation/reach.ts';
import { Runner } from './mutation/runner.ts';

/**
 * Changes the pure rooms at sampled places, one place after the other, and states which changes no test of the pure
 * lane sees: `--sample N` places (100) of `--room ROOM,ROOM` (all) or `--file TEXT`, chosen by `--seed S` (1). A mutant
 * that the compiler refuses does not count, nor does one that `test/mutation/explained.ts` explains. The files stay as
 * they are. Fails below a score of 90 %.
 */
const { values } = parseArgs({
  options: {
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    room: { type: 'string' },
    file: { type: 'string', default: '' },
  },
});
const ROOT = join(import.meta.dirname, '..');
const TSC = join(ROOT, 'node_modules/.bin/tsc');
/** How many test files run before the compiler. */
const NEAR = 12;
const LEAST_SCORE = 0.9;

interface Tried {
  readonly room: string;
  readonly mutant: Mutant;
  readonly fate: 'killed' | 'survived' | 'explained' | 'refused by the compiler';
}

const reach = new Reach(ROOT);
const compiler = createCompiler();
report(await tryAll(sample()));
rmSync(compiler.folder, { recursive: true });

function sample(): readonly Pick<Tried, 'room' | 'mutant'>[] {
  const rooms = values.room?.split(',');
  const all = [...pureFiles(ROOT)]
    .filter(([room]) => rooms?.includes(room) ?? true)
    .flatMap(([room, files]) => files.map((file) => ({ room, file })))
    .filter(({ file }) => file.includes(values.file))
    .flatMap(({ room, file }) => findMutants(file, readFileSync(join(ROOT, file), 'utf8')).map((mutant) => ({ room, mutant }))); // prettier-ignore
  const random = new Random(Number(values.seed), 'mutants');
  const chosen = Array.from({ length: Math.min(Number(values.sample), all.length) }, () => {
    return all.splice(random.below(all.length), 1)[0];
  });
  console.log(`${chosen.length} of ${chosen.length + all.length} mutants, seed ${values.seed}`);
  return chosen.filter((each) => each !== undefined);
}

async function tryAll(mutants: readonly Pick<Tried, 'room' | 'mutant'>[]): Promise<readonly Tried[]> {
  const runner = new Runner();
  const lane = [...new Set(mutants.flatMap(({ mutant }) => reach.testsOf(mutant.file)))];
  const now = await runner.run({ mutant: null, tests: lane });
  if (now !== null) throw new Error(`a test fails without a mutant: ${now}`);
  const results: Tried[] = [];
  for (const { room, mutant } of mutants) {
    const begin = performance.now();
    const { fate, why } = await tryOne(runner, mutant);
    results.push({ room, mutant, fate });
    console.log(`${fate}, ${((performance.now() - begin) / 1000).toFixed(1)} s  ${nameOf(mutant)}  (${why})`);
  }
  runner.end();
  return results;
}

/** Runs the nearest tests, then the compiler, and only then all other tests, which take a while. */
async function tryOne(runner: Runner, mutant: Mutant): Promise<Pick<Tried, 'fate'> & { readonly why: string }> {
  const known = EXPLAINED.find((each) => isSame(each, mutant));
  if (known !== undefined) return { fate: 'explained', why: known.why };
  const tests = reach.testsOf(mutant.file);
  const near = await runner.run({ mutant, tests: tests.slice(0, NEAR) });
  if (near !== null) return { fate: 'killed', why: near };
  if (!compiler.accepts(mutant)) return { fate: 'refused by the compiler', why: 'types' };
  const far = tests.length <= NEAR ? null : await runner.run({ mutant, tests: tests.slice(NEAR) });
  return far === null ? { fate: 'survived', why: `${tests.length} test files` } : { fate: 'killed', why: far };
}

/** A copy of the sources, in which one file at a time is changed. */
function createCompiler() {
  const folder = mkdtempSync(join(ROOT, 'node_modules/.mutants-'));
  for (const name of ['src', 'tsconfig.json', 'package.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  const compiles = (file: string): boolean => {
    writeFileSync(join(folder, 'one.json'), JSON.stringify({ extends: './tsconfig.json', include: [file] }));
    return spawnSync(TSC, ['-p', 'one.json', '--noEmit'], { cwd: folder }).status === 0;
  };
  const accepts = (mutant: Mutant): boolean => {
    const code = readFileSync(join(ROOT, mutant.file), 'utf8');
    writeFileSync(join(folder, mutant.file), applyMutant(code, mutant));
    const isFine = compiles(mutant.file);
    writeFileSync(join(folder, mutant.file), code);
    if (!isFine && !compiles(mutant.file)) throw new Error(`${mutant.file} does not compile as it is`);
    return isFine;
  };
  return { folder, accepts };
}

function isSame(known: (typeof EXPLAINED)[number], { file, kind, from, start }: Mutant): boolean {
  if (known.file !== file || known.kind !== kind || known.from !== from) return false;
  const code = readFileSync(join(ROOT, file), 'utf8');
  const at = code.indexOf(known.in);
  return at !== -1 && start >= at && start < at + known.in.length;
}

function report(all: readonly Tried[]): void {
  const count = (of: readonly Tried[], fate: Tried['fate']): number => of.filter((each) => each.fate === fate).length;
  for (const each of all.filter(({ fate }) => fate === 'survived'))
    console.log(`\n${nameOf(each.mutant)}\n  - ${each.mutant.from}\n  + ${each.mutant.to}`);
  console.log('');
  for (const room of new Set(all.map((each) => each.room))) describe(room, all.filter((each) => each.room === room)); // prettier-ignore
  const score = describe('all rooms', all);
  process.exitCode = score >= LEAST_SCORE ? 0 : 1;

  function describe(what: string, of: readonly Tried[]): number {
    const [killed, survived] = [count(of, 'killed'), count(of, 'survived')];
    const reached = killed / Math.max(1, killed + survived);
    const others = `${count(of, 'explained')} explained, ${count(of, 'refused by the compiler')} refused by the compiler`;
    console.log(`${what}: ${(100 * reached).toFixed(1)} % (${killed} killed, ${survived} survived, ${others})`);
    return reached;
  }
}

function nameOf({ file, line, kind, from }: Mutant): string {
  return `${file}:${line} ${kind}: ${from.replaceAll(/\s+/g, ' ').slice(0, 80)}`;
}
