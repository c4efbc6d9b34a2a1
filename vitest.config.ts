import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { usePackage } from './test/package/use-package.ts';

const LONG = '**/*.long.test.ts';
/** Files of the other lanes that have more cases in the long lane (`test/lanes.ts`). */
const WITH_LONG_CASES = globSync('{src,test}/**/*.test.ts').filter((file) =>
  /import \{[^}]*\b(?:inLongLane|isLongLane|someOf)\b[^}]*\} from '[./a-z]*\/lanes\.ts'/.test(
    readFileSync(file, 'utf8'),
  ),
);

export default defineConfig({
  plugins: usePackage.plugins,
  test: {
    env: usePackage.test.env,
    projects: [
      {
        extends: true,
        // Pure functions share nothing between files: a worker for each file would only cost its start.
        test: {
          name: 'pure',
          include: ['src/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: [...configDefaults.exclude, LONG, '**/*.int.test.ts'],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'int',
          include: ['src/**/*.int.test.ts', 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, LONG, 'test/clients/**/*.int.test.ts', 'test/attacks/**'],
          globalSetup: usePackage.test.globalSetup,
          // Each daemon's modules are loaded once a worker, not once a file.
          setupFiles: [join(import.meta.dirname, 'test/package/same-environment.ts')],
          isolate: false,
        },
      },
      {
        extends: true,
        // Kills, crowds and further walks through whole workflows: `npm run test:all`. Their rules are proved in the other two lanes.
        test: {
          name: 'long',
          include: [LONG, ...WITH_LONG_CASES],
          env: { BATON_TEST_LANE: 'long' },
          globalSetup: usePackage.test.globalSetup,
        },
      },
    ],
    reporters: ['default', './scripts/closing-line.ts'],
    // Tests wait for other processes half of their time: a small machine needs three workers for each core.
    maxWorkers: Math.max(6, Math.floor(availableParallelism() / 2)),
    // On a machine that does ten other things; whatever a test waits for comes much sooner.
    testTimeout: 90_000,
    // A machine that does other things at the same time may starve a process for longer than a test waits. Whatever needed a second try
    // is named at the end (`scripts/closing-line.ts`), and looked into.
    retry: process.env['CI'] === undefined ? 0 : 1,
    hookTimeout: 90_000,
  },
});
