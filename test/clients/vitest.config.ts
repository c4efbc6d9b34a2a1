import { defineConfig } from 'vitest/config';
import { usePackage } from '../package/use-package.ts';

export default defineConfig({
  plugins: usePackage.plugins,
  test: {
    ...usePackage.test,
    include: ['test/clients/**/*.int.test.ts'],
    reporters: ['default', './scripts/closing-line.ts'],
    // Mostly they wait, for each other and for their clients.
    maxWorkers: 3,
    testTimeout: 90_000,
    // As in the other tests: named at the end, and looked into.
    retry: process.env['CI'] === undefined ? 0 : 1,
    hookTimeout: 40_000,
  },
});
