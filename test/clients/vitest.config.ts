import { defineConfig } from 'vitest/config';
import { usePackage } from '../package/use-package.ts';

export default defineConfig({
  plugins: usePackage.plugins,
  test: {
    ...usePackage.test,
    include: ['test/clients/**/*.int.test.ts'],
    reporters: ['default', './scripts/closing-line.ts'],
    // Tests mostly wait, for each other and for their clients.
    maxWorkers: 3,
    testTimeout: 90_000,
    // As for other tests: a retried test is listed at the end and must be examined.
    retry: process.env['CI'] === undefined ? 0 : 1,
    hookTimeout: 40_000,
  },
});
