import { findRemoteUrl } from '../config.ts';
import { readCloneKind } from '../own/own-repository.ts';
import { findMainBranch, findGitFolders } from '../repository.ts';
import { gitFailure, gitLines, type GitResult } from '../run-git.ts';
import { join } from 'node:path';
import { recordableRemote } from './remote-url.ts';

/**
 * The address of `origin`, without a password; null if there is no such remote. Read only when a fleet is founded or a
 * host joins: later an agent could have changed it.
 */
export async function findOriginUrl(folder: string): Promise<GitResult<string | null>> {
  const url = await findRemoteUrl(folder, 'origin', 'fetch');
  if (!url.ok) return url.problem.code === 'git/remote-unreachable' ? { ok: true, value: null } : url;
  return recordableRemote(url.value);
}

/** Identifies a repository in all its clones: the first of the main branch's root commits, sorted. */
export async function findRootCommit(folder: string, main?: string): Promise<GitResult<string>> {
  const found = await findGitFolders(folder);
  if (!found.ok) return found;
  const { commonDir } = found.value;
  if (readCloneKind({ path: folder, commonDir, objects: join(commonDir, 'objects') }) === 'shallow') {
    const message = `'${folder}' is a shallow clone, which has no first commit`;
    return gitFailure('git/shallow-repository', message, 'Fetch its whole history: git fetch --unshallow');
  }
  const branch = await findMainBranch(folder, main);
  if (!branch.ok) return branch;
  const args = ['-c', 'core.commitGraph=false', 'rev-list', '--max-parents=0', branch.value.sha, '--'];
  const roots = await gitLines(args, { cwd: folder, env: { GIT_GRAFT_FILE: '/dev/null' } });
  if (!roots.ok) return roots;
  return { ok: true, value: roots.value.toSorted()[0] ?? branch.value.sha };
}
