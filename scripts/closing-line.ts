import type { Reporter, TestModule } from 'vitest/node';

/** Ends every test run with the one plain line that a CI can read: `N passed, N failed`. */
class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.children.size === 0 || module.errors().length > 0) count.failed += 1;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
    process.on('exit', () => console.log(`${count.passed} passed, ${count.failed + count.pending} failed${skipped}`));
  }
}

// Vitest loads a reporter by its default export.
export default ClosingLine;
