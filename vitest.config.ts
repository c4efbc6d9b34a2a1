import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['baton-source'] },
  ssr: { resolve: { conditions: ['baton-source'] } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // They need the agents' own programs: `npm run test:clients`.
    exclude: [...configDefaults.exclude, 'test/clients/**/*.int.test.ts'],
    reporters: ['default', './scripts/closing-line.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
