import { defineConfig } from 'vitest/config';
import { usePackage } from '../package/use-package.ts';

export default defineConfig({
  plugins: usePackage.plugins,
  test: {
    ...usePackage.test,
    include: ['test/attacks/**/*.int.test.ts', 'test/e2e/attack-*.int.test.ts'],
    reporters: ['default', './scripts/closing-line.ts'],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
