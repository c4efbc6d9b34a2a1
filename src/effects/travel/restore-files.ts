import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { writeBelow } from '../../api/write-below.ts';
import { readSnapshot, type SnapshotChange } from '../../git/own/snapshot.ts';
import { findSha } from '../../git/repository.ts';
import type { GitResult } from '../../git/run-git.ts';
import type { BroughtFiles } from './bring-work.ts';

/** Writes the last session's uncommitted files into a worktree in which no session runs yet. Idempotent. */
export async function restoreFiles(worktree: string, { own, sha, head }: BroughtFiles): Promise<GitResult<number>> {
  // The branch has moved, so the files belong to an earlier commit.
  if ((await findSha(worktree, 'HEAD')) !== head) return { ok: true, value: 0 };
  const changes = await readSnapshot(own, { sha, head });
  if (!changes.ok) return changes;
  writeChanges(worktree, changes.value);
  return { ok: true, value: changes.value.length };
}

/** Writes and removes files without following links. */
export function writeChanges(worktree: string, changes: readonly SnapshotChange[]): void {
  for (const { path, content, mode } of changes) {
    if (content === null) rmSync(join(worktree, path), { force: true });
    else if (mode === '120000') {
      // Creates the parent folders without following links.
      writeBelow(worktree, path, '');
      rmSync(join(worktree, path));
      symlinkSync(content, join(worktree, path));
    } else writeBelow(worktree, path, content, mode === '100755' ? 0o755 : 0o644);
  }
}
