import { readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { StoredView } from '../../../daemon/views/stored-view.ts';
import { readFence } from '../../../git/fence/fence.ts';
import { WORKTREES_FOLDER } from '../../../git/worktree/ignore-rules.ts';
import { listWorktrees, readLinkedGitDir, type Worktree } from '../../../git/worktree/worktree.ts';
import type { WorktreeFact, WorktreeFacts } from '../checks/worktrees.ts';
import type { Place } from '../place.ts';

/** Null outside of a repository. Does not read the content of worktrees, because git would have to write for it. */
export async function readWorktreeFacts(
  { repository }: Place,
  view: StoredView | undefined,
): Promise<WorktreeFacts | null> {
  if (!repository.ok) return null;
  const { mainTop, commonDir } = repository.value;
  const listed = await listWorktrees(mainTop);
  const hasTasks = view !== undefined;
  if (!listed.ok) return { worktrees: [], hasTasks, trouble: listed.problem, unknownFolders: [] };
  const folder = join(mainTop, WORKTREES_FOLDER);
  const own = listed.value.filter(({ path, isMain }) => !isMain && path.startsWith(folder + sep));
  const worktrees = await Promise.all(own.map(async (each) => readOne(each, commonDir, view)));
  const known = new Set(own.map(({ path }) => path));
  const unknownFolders = foldersIn(folder).filter((path) => !known.has(path));
  return { worktrees, hasTasks, trouble: null, unknownFolders };
}

async function readOne(worktree: Worktree, commonDir: string, view: StoredView | undefined): Promise<WorktreeFact> {
  const { path, branch, isMissing, isLocked } = worktree;
  const gitDir = isMissing ? null : await readLinkedGitDir(worktree, commonDir);
  const fence = gitDir === null ? null : readFence(gitDir);
  const owner = view?.ownerOf({ path, branch, fence });
  const taskId = fence?.taskId ?? null;
  return { path, isMissing, isLocked, taskId, needed: owner?.needed, hasTask: owner?.hasTask ?? false };
}

function foldersIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((each) => each.isDirectory()).map(({ name }) => join(folder, name));
  } catch {
    return [];
  }
}
