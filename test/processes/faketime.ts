import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLongRun } from './long-run.ts';

const PLACES = [
  '/usr/lib/*/faketime/libfaketime.so.1',
  '/usr/lib/faketime/libfaketime.so.1',
  '/usr/lib64/faketime/libfaketime.so.1',
];
const FETCHED = join(tmpdir(), 'baton-libfaketime');

/** Returns the path of libfaketime, if installed. In the long run, installs it from Debian or throws. */
export function findFaketime(): string | undefined {
  const { BATON_FAKETIME: named } = process.env;
  if (named) return named;
  const found = globSync([...PLACES, `${FETCHED}${PLACES[0]}`])[0];
  return found ?? (isLongRun ? fetchFaketime() : undefined);
}

function fetchFaketime(): string {
  mkdirSync(FETCHED, { recursive: true });
  execFileSync('apt-get', ['download', 'libfaketime'], { cwd: FETCHED, stdio: 'ignore' });
  for (const file of globSync('libfaketime_*.deb', { cwd: FETCHED })) {
    execFileSync('dpkg', ['-x', file, FETCHED], { cwd: FETCHED });
  }
  const [library] = globSync(`${FETCHED}${PLACES[0]}`);
  if (library === undefined || !existsSync(library)) throw new Error('libfaketime cannot be had here');
  return library;
}
