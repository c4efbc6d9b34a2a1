import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVitest } from 'vitest/node';
import { usePackage } from '../../test/package/use-package.ts';
import { applyMutant, type Mutant } from './mutants.ts';

/** What `mutate.ts` sends to this process: a mutant, and the tests that may see it. */
export interface Trial {
  readonly mutant: Mutant | null;
  readonly tests: readonly string[];
}

/** `failed`: the first test that failed; null if all passed. */
export interface Verdict {
  readonly failed: string | null;
}

/** The nearest tests run first. */
class InOrder {
  shard<T>(files: T[]): T[] {
    return files;
  }
  sort<T>(files: T[]): T[] {
    return files;
  }
}

const ROOT = join(import.meta.dirname, '../..');
/** Several times as much as all tests of the pure lane use. */
const MOST_CPU_US = 240e6;
let planted: Mutant | null = null;

/** A process that keeps Vitest and its transformed modules, and runs the tests of one mutant after the other. */
const vitest = await createVitest(
  {
    root: ROOT,
    config: false,
    watch: false,
    run: true,
    bail: 1,
    isolate: false,
    // Vitest would keep the changed modules for later runs.
    fsModuleCache: false,
    cache: false,
    // Ending this process ends its threads, also those in an endless loop.
    pool: 'threads',
    maxWorkers: 1,
    reporters: [{}],
    include: ['src/**/*.test.ts', 'scripts/**/*.test.ts'],
    testTimeout: 60_000,
    env: usePackage.test.env,
    sequence: { sequencer: InOrder },
  },
  {
    plugins: [
      ...usePackage.plugins,
      {
        name: 'mutant',
        enforce: 'pre',
        load: (id) =>
          planted !== null && id === join(ROOT, planted.file)
            ? applyMutant(readFileSync(id, 'utf8'), planted)
            : undefined,
      },
    ],
  },
);
const project = vitest.getRootProject();

process.on('message', (trial: Trial) => {
  const begin = process.cpuUsage().user;
  // The threads may be in an endless loop; this one is not. Only processor time says so on a busy machine.
  const watch = setInterval(() => {
    if (trial.mutant !== null && process.cpuUsage().user - begin > MOST_CPU_US) process.exit(1);
  }, 1000);
  void run(trial).then((verdict) => {
    clearInterval(watch);
    process.send?.(verdict);
  });
});
process.send?.('ready');

async function run({ mutant, tests }: Trial): Promise<Verdict> {
  for (const { file } of [planted, mutant].filter((each) => each !== null)) vitest.invalidateFile(join(ROOT, file));
  planted = mutant;
  const found = tests.map((file) => project.createSpecification(join(ROOT, file)));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(found);
  const failed = testModules.find((each) => each.state() === 'failed');
  const words = failed?.relativeModuleId ?? (unhandledErrors.length > 0 ? 'an error outside of tests' : null);
  return { failed: words };
}
