import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import { transferPack } from '../own/transfer-pack.ts';
import type { GitResult, OwnGitFolder } from '../run-git.ts';
import { mirrorObjects } from './mirror-objects.ts';

/**
 * Adds private commits to the user's objects, with everything they need and the user's repository lacks. Every byte is
 * hashed again. Moves no ref. `haves`: commits of the user's repository.
 */
export async function importCommits(
  git: PrivateGit,
  wants: readonly string[],
  haves: readonly string[],
): Promise<GitResult<null>> {
  const own = importFolder(git);
  const objects = join(own.gitDir, 'objects');
  const users = join(git.commonDir, 'objects');
  const send = async (known: readonly string[]): Promise<GitResult<null>> => {
    await mirrorObjects(join(git.folder, 'git', 'objects'), objects);
    const transfer = { from: { objects, also: [users] }, to: { objects: users }, wants, isLocal: true };
    return transferPack(own, { ...transfer, haves: known });
  };
  const sent = await send(haves);
  if (sent.ok || sent.problem.code === 'git/disk') return sent;
  // The agent may have replaced a damaged object, or the user may have removed a commit that the session started with.
  rmSync(objects, { recursive: true, force: true });
  return send([]);
}

/** A git folder of Baton, with its own configuration. Its objects are links to the private ones. */
export function importFolder({ folder }: Pick<PrivateGit, 'folder'>): OwnGitFolder {
  return { gitDir: join(folder, 'import') };
}
