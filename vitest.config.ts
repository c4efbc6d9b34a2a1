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
    // A machine that does other things at the same time may starve a process for longer than a test waits. Whatever needed a second try
    // is named at the end (`scripts/closing-line.ts`), and looked into.
    retry: process.env['CI'] === undefined ? 0 : 1,
    hookTimeout: 60_000,
  },
});
