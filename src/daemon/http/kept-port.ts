import { readFileSync, writeFileSync } from 'node:fs';
import { stateFiles } from '../../api/state-folder.ts';

/** The port that the daemon before had: pages that are open, and webhooks that point here, find the next one where it was. 0 where none is known. */
export function readSavedPort(stateDir: string): number {
  try {
    const port = Number(readFileSync(stateFiles(stateDir).port, 'utf8').trim());
    return Number.isInteger(port) && port >= 1024 && port <= 65_535 ? port : 0;
  } catch {
    return 0;
  }
}

export function savePort(stateDir: string, port: number): void {
  try {
    writeFileSync(stateFiles(stateDir).port, `${port}\n`, { mode: 0o600 });
  } catch {
    // Then the next daemon takes another one.
  }
}
