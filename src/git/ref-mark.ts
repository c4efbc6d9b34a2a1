import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A look at the files that say where the main branch is, without git. */
export interface RefFingerprint {
  /** The same text: nothing has changed since. */
  readonly text: string;
  /** Whether a later change is sure to change the text. */
  readonly isSettled: boolean;
}

/**
 * Marks the files behind a branch. The time of change (ctime) cannot be set back by whoever writes them. A change within the last moments
 * may share its time with the next one, and a branch that stands for another one changes elsewhere: such a mark proves nothing.
 */
export function readRefFingerprint(commonDir: string, branch: string, nowMs: number): RefFingerprint {
  const loose = join(commonDir, 'refs', 'heads', branch);
  const files = [loose, ...SHARED.map((name) => join(commonDir, name))];
  const stats = files.map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  const newestMs = Math.max(...stats.map((stat) => (stat === undefined ? 0 : Number(stat.ctimeMs))));
  const text = stats.map((stat) => (stat === undefined ? '-' : `${stat.ino}:${stat.size}:${stat.ctimeNs}`)).join(' ');
  return { text, isSettled: nowMs - newestMs > GRANULARITY_MS && !isSymbolic(loose) };
}

/** Packed branches, a table of refs, and what decides which branch is the main one. */
const SHARED = ['packed-refs', 'reftable/tables.list', 'refs/remotes/origin/HEAD'];
const GRANULARITY_MS = 100;

function isSymbolic(path: string): boolean {
  try {
    return readFileSync(path, 'latin1').startsWith('ref:');
  } catch {
    return false;
  }
}
