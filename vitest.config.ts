import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['baton-source'] },
  ssr: { resolve: { conditions: ['baton-source'] } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // They need the agents' own programs: `npm run test:clients`.
    exclude: [...configDefaults.exclude, 'test/clients/**/*.int.test.ts'],
    reporters: ['default', './scripts/closing-line.ts'],
    // Most of the time is spent waiting for other processes: one file at a time would leave a small machine idle.
    maxWorkers: Math.max(2, Math.floor(availableParallelism() / 2)),
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
