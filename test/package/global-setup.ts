import { rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../postgres/server.ts';
import { makePackage } from './make-package.ts';

/**
 * Builds the package before the first test, and again before each further run in watch mode. Starts the run's
 * PostgreSQL, if it uses one.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = project.config.env['BATON_TEST_PACKAGE'];
  if (folder === undefined) throw new Error('BATON_TEST_PACKAGE is not set');
  await makePackage(folder);
  project.onTestsRerun(async () => makePackage(folder));
  const stopServer = process.env['BATON_TEST_STORE'] === 'postgres' ? await startServer() : undefined;
  return async () => {
    await stopServer?.();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}

/** Starts one server for all test files; workers inherit the variable. */
async function startServer(): Promise<() => Promise<void>> {
  const server = await startPostgres({ settings: { max_connections: '500' } });
  process.env['BATON_TEST_STORE_URL'] = await server.createDatabase();
  return async () => server.stop();
}
