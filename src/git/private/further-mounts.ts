import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mount } from '../../protocol/sandbox.ts';
import { WORKTREES_FOLDER } from '../worktree/ignore-rules.ts';
import { OBJECTS_AT } from './mounts.ts';
import type { UserRepository } from './user-repository.ts';

/** Finds mounts that only some repositories need. `folder` is Baton's. */
export function findFurtherMounts(folder: string, { at, commonDir, worktree, objects }: UserRepository): Mount[] {
  const modules = join(at, 'modules');
  const largeFiles = join(commonDir, 'lfs', 'objects');
  const worktrees = join(worktree, WORKTREES_FOLDER);
  const empty = join(folder, 'empty');
  writeFileSync(empty, '');
  return [
    // Hides files that name folders which the session lacks, because git would complain at every command. Not `masked`:
    // git also complains about a device.
    ...objects.flatMap(({ hasAlternates }, index) =>
      hasAlternates ? [{ kind: 'read', at: `${OBJECTS_AT}/${index}/info/alternates`, from: empty } as const] : [],
    ),
    ...(existsSync(modules) ? [{ kind: 'read', at: modules, from: modules } as const] : []),
    // Git LFS looks for its files beside each alternate.
    ...(existsSync(largeFiles) ? [{ kind: 'read', at: `${OBJECTS_AT}/lfs/objects`, from: largeFiles } as const] : []),
    ...(at === commonDir && existsSync(worktrees) ? [{ kind: 'empty', at: worktrees } as const] : []),
  ];
}
