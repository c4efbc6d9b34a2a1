import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import { parsePackedRefs, type Refs } from './private-refs.ts';

/** What Baton records about a private git directory, in a file that the session cannot see. */
export interface Known {
  readonly git: PrivateGit;
  /** The task's branch after the last sync; null before its first commit. */
  readonly tip: string | null;
  readonly made: ReadonlyMap<string, string>;
  /**
   * Moves of other branches, recorded before they are made, so that after a kill the next sync can find out which were
   * made. A branch that has the same value by chance does not count as created by the session.
   */
  readonly pending: ReadonlyMap<string, string | null>;
  /** Unsynced refs of an earlier session, in case the git directory is incomplete. */
  readonly carried: Refs;
  /** HEAD of the worktree as Baton last wrote or found it. If a person has changed it since, it is left alone. */
  readonly head: string;
  /** The commit whose tree is in the worktree's index. */
  readonly indexed: string | null;
  /** The value of `stampOf` at the last sync. */
  readonly stamp: string;
  /** Whether the git directory is incomplete. Its refs then mean nothing, because they were synced before. */
  readonly isBuilding: boolean;
}

/** Null if the file is missing or damaged. */
export function readKnown(folder: string): Known | null {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `writeKnown` writes this file
    const stored = JSON.parse(readFileSync(knownPath(folder), 'utf8')) as StoredKnown;
    return {
      ...stored,
      made: new Map(stored.made),
      pending: new Map(stored.pending),
      carried: new Map(stored.carried),
    };
  } catch {
    return null;
  }
}

export function writeKnown(known: Known): void {
  const { folder } = known.git;
  const stored: StoredKnown = {
    ...known,
    made: [...known.made],
    pending: [...known.pending],
    carried: [...known.carried],
  };
  writeWhole(knownPath(folder), JSON.stringify(stored));
}

/** Pairs instead of objects, because a branch may be named `__proto__`. */
type StoredKnown = Omit<Known, 'made' | 'pending' | 'carried'> & {
  readonly made: readonly (readonly [string, string])[];
  readonly pending: readonly (readonly [string, string | null])[];
  readonly carried: readonly (readonly [string, string])[];
};

/** The refs of the user's repository as the session received them. */
export function readSnapshot({ folder, format }: Pick<PrivateGit, 'folder' | 'format'>, under = ['refs/heads/']): Refs {
  return parsePackedRefs(readSnapshotText(folder), format, under);
}

export function readSnapshotText(folder: string): string {
  try {
    return readFileSync(snapshotPath(folder), 'utf8');
  } catch {
    return '';
  }
}

export function writeSnapshot(folder: string, packedRefs: string): void {
  writeWhole(snapshotPath(folder), packedRefs);
}

function writeWhole(path: string, content: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode: 0o600 });
  renameSync(temporary, path);
}

function knownPath(folder: string): string {
  return join(folder, 'known.json');
}

function snapshotPath(folder: string): string {
  return join(folder, 'snapshot');
}
