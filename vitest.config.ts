import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['baton-source'] },
  ssr: { resolve: { conditions: ['baton-source'] } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    reporters: ['default', './scripts/closing-line.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
