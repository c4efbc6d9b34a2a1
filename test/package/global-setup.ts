import { rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { makePackage } from './make-package.ts';

/** Builds the package before the first test, and again before each further run in watch mode. */
export async function setup(project: TestProject): Promise<() => void> {
  const folder = project.config.env['BATON_TEST_PACKAGE'];
  if (folder === undefined) throw new Error('BATON_TEST_PACKAGE is not set');
  await makePackage(folder);
  project.onTestsRerun(async () => makePackage(folder));
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
