import { join } from 'node:path';
import type { Mount, PrivateGit } from '../../protocol/sandbox.ts';

/** The paths at which a session sees the objects and hooks of the user's repository. */
export const OBJECTS_AT = '/run/baton/objects';
export const HOOKS_AT = '/run/baton/hooks';

/** The mounts of a private git directory. They come after the mount of the worktree. */
export function privateGitMounts(git: PrivateGit): Mount[] {
  const { at, worktree, commonDir, folder, objects, hooks, also } = git;
  const link = join(worktree, '.git');
  return [
    // Hides the other worktrees and the main checkout's git metadata, even if the repository is in a visible folder.
    // Not `empty`, because the next mount is below it.
    ...(at === commonDir ? [] : [{ kind: 'scratch', at: commonDir } as const]),
    { kind: 'write', at, from: join(folder, 'git') },
    // The file that names the git directory. As a mount it cannot be replaced or removed.
    ...(at === link ? [] : [{ kind: 'read', at: link, from: link } as const]),
    ...objects.map((from, index) => ({ kind: 'read', at: `${OBJECTS_AT}/${index}`, from }) as const),
    ...(hooks === null ? [] : [{ kind: 'read', at: HOOKS_AT, from: hooks } as const]),
    ...also,
  ];
}
