import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { makeFolder, stateFiles } from './state-folder.ts';

/**
 * `baton down` is on record as a file, so that whatever restarts a daemon after a crash leaves a stopped one alone. A daemon that a person
 * or a command starts removes the file; one that is restarted stops again if it finds it.
 */
export function recordDownIntent(stateDir: string): void {
  try {
    makeFolder(stateDir);
    writeFileSync(stateFiles(stateDir).down, `${new Date().toISOString()}\n`, { mode: 0o600 });
  } catch {
    // A full disk must not keep anybody from stopping the daemon, which says itself that it stopped as it was asked to.
  }
}

export function hasDownIntent(stateDir: string): boolean {
  return existsSync(stateFiles(stateDir).down);
}

export function clearDownIntent(stateDir: string): void {
  rmSync(stateFiles(stateDir).down, { force: true });
}
