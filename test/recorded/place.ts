import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMPILE_CACHE } from '../package/where.ts';
import { until } from '../processes/until.ts';

/**
 * The folder of recordings. A project's id is derived from its repository's path and is part of every entry, so the
 * command can read a recorded ledger only at the path at which it was recorded.
 */
export const PLACE = '/tmp/baton-recorded';
export const REPOSITORY: string = join(PLACE, 'sample');
export const STATE: string = join(PLACE, 'state');
/** Copies of examples and fixtures, so that a changed word in them does not look like a change of the program. */
export const INPUTS: string = join(PLACE, 'inputs');

/** Built from nothing, so that this machine's settings have no effect. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  HOME: PLACE,
  USER: 'ada',
  ...COMPILE_CACHE,
  BATON_STATE_DIR: STATE,
  BATON_RESTART: 'off',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
};

/** Takes the folder. A second checkout that checks at the same time waits until the first has removed it. */
export async function takePlace(): Promise<Disposable> {
  await until(`${PLACE} is free`, () => tryToTake(), 60_000);
  return { [Symbol.dispose]: () => rmSync(PLACE, { recursive: true, force: true, maxRetries: 5 }) };
}

function tryToTake(): boolean {
  try {
    mkdirSync(PLACE);
    writeFileSync(join(PLACE, 'pid'), String(process.pid));
    return true;
  } catch {
    if (isAbandoned()) rmSync(PLACE, { recursive: true, force: true });
    return false;
  }
}

/** The owner has ended. A folder without an owner is one that a daemon wrote to after it was removed. */
function isAbandoned(): boolean {
  try {
    process.kill(Number(readFileSync(join(PLACE, 'pid'), 'utf8')), 0);
    return false;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) return false;
    return error.code === 'ESRCH' || (error.code === 'ENOENT' && ageOf(PLACE) > ALONE_MS);
  }
}

/** Longer than from the creation of the folder to that of its `pid`. */
const ALONE_MS = 5000;

function ageOf(path: string): number {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
}
