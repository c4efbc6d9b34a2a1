import { join } from 'node:path';
import type { Mount, PrivateGit } from '../../protocol/sandbox.ts';

/** Where a session sees the objects and hooks of the user's repository. */
export const OBJECTS_AT = '/run/baton/objects';
export const HOOKS_AT = '/run/baton/hooks';

/** The mounts of a private git directory. They come after the mount of the worktree. */
export function privateGitMounts(git: PrivateGit): Mount[] {
  const { at, worktree, commonDir, folder, objects, hooks, also } = git;
  const link = join(worktree, '.git');
  return [
    // The other worktrees and the main checkout's git metadata are not there, even if the repository is in a visible
    // folder. Not `empty`: the next mount is below it.
    ...(at === commonDir ? [] : [{ kind: 'scratch', at: commonDir } as const]),
    { kind: 'write', at, from: join(folder, 'git') },
    // The file that names the git directory. A mount cannot be replaced or removed.
    ...(at === link ? [] : [{ kind: 'read', at: link, from: link } as const]),
    ...objects.map((from, index) => ({ kind: 'read', at: `${OBJECTS_AT}/${index}`, from }) as const),
    ...(hooks === null ? [] : [{ kind: 'read', at: HOOKS_AT, from: hooks } as const]),
    ...also,
  ];
}
