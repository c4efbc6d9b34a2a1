import { execFileSync } from 'node:child_process';
import { platform } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import type { World } from './world.ts';

/** From now on the daemon cannot commit anything; what comes back mends it. */
export function breakStore(world: World): () => void {
  return platform() === 'linux' ? limitFiles(world) : holdLock(world);
}

/** No file may grow past one page: small ones can be written, a commit cannot, as on a disk that is full. */
function limitFiles({ daemonPid }: World): () => void {
  const limit = (size: string): void => void execFileSync('prlimit', ['--pid', String(daemonPid), `--fsize=${size}:`]);
  limit('4096');
  return () => limit('unlimited');
}

/** Somebody else writes to the file and does not come to an end; the daemon waits for `BATON_LOCK_WAIT_MS` before it gives up. */
export function holdLock({ ledgerFile }: World): () => void {
  const db = new DatabaseSync(ledgerFile);
  db.exec('BEGIN IMMEDIATE');
  return () => db.close();
}
