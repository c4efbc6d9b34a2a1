import { appendFileSync, readFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, TestRunEndReason } from 'vitest/node';

/**
 * Ends every test run with one plain line for a CI: `N passed, N failed`. If `BATON_TEST_COUNTS` names a file, the runs
 * of one `npm test` add up in it, and the last line has the total. A test that passed only at its second attempt is
 * listed, because it is flaky. So is every skipped test, because this machine lacks something (`npm run test:setup`).
 */
class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.children.size === 0 || module.errors().length > 0) count.failed += 1;
      for (const test of module.children.allTests()) {
        count[test.result().state] += 1;
        if (test.diagnostic()?.flaky === true) nameFlaky(test);
        if (test.result().state === 'skipped')
          console.log(`DID NOT RUN: ${test.module.relativeModuleId} > ${test.fullName}`);
      }
    }
    endSoon(reason);
    const own = { passed: count.passed, failed: count.failed + count.pending, skipped: count.skipped };
    const { passed, failed, skipped } = withEarlier(own);
    process.on('exit', () =>
      console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`),
    );
  }
}

function nameFlaky(test: TestCase): void {
  console.log(`PASSED AT THE SECOND TRY: ${test.module.relativeModuleId} > ${test.fullName}`);
  for (const error of test.result().errors ?? []) {
    console.log(error.message);
    // A failed property test has its reason in the cause.
    if (error.cause !== undefined) console.log(`Caused by: ${error.cause.message}`);
  }
}

/** A process that a test left behind would keep this run's output open, so the run ends after a time limit. */
function endSoon(reason: TestRunEndReason): void {
  const end = (): never => process.exit(reason === 'passed' ? 0 : 1);
  setTimeout(end, LEFT_BEHIND_MS).unref();
}

const LEFT_BEHIND_MS = 20_000;

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

function withEarlier(own: Counts): Counts {
  const { BATON_TEST_COUNTS: file } = process.env;
  if (file === undefined) return own;
  appendFileSync(file, `${own.passed} ${own.failed} ${own.skipped}\n`);
  const runs = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number));
  const sum = (column: number): number => runs.reduce((total, run) => total + (run[column] ?? 0), 0);
  return { passed: sum(0), failed: sum(1), skipped: sum(2) };
}

// Vitest loads a reporter by its default export.
export default ClosingLine;
