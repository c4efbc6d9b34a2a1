import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['baton-source'] },
  ssr: { resolve: { conditions: ['baton-source'] } },
  test: {
    include: ['test/clients/**/*.int.test.ts'],
    reporters: ['default', './scripts/closing-line.ts'],
    testTimeout: 40_000,
    hookTimeout: 40_000,
  },
});
