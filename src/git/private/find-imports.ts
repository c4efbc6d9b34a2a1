import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isAncestor } from '../commits.ts';
import type { OwnGitFolder } from '../run-git.ts';
import { type Known, readKnown } from './known.ts';

/** A claim whose session imported commits; null for a session without a task. */
export interface ImportingClaim {
  readonly task_id: string | null;
  readonly epoch: number | null;
}

export interface MovedBranch {
  readonly taskId: string;
  readonly branch: string;
  /** Where the branch was; null if it was not recorded yet. */
  readonly old: string | null;
  readonly head: string;
}

/**
 * Finds the claims whose git directories brought commits of a move into the user's repository: a session can commit
 * between its measurement and the end of its claim, and it can create the branch of a task that has not begun.
 */
export async function findImports(stateDir: string, own: OwnGitFolder, move: MovedBranch): Promise<ImportingClaim[]> {
  const found: ImportingClaim[] = [];
  for (const name of listFolders(join(stateDir, 'private-git'))) {
    const known = readKnown(join(stateDir, 'private-git', name));
    if (known === null) continue;
    for (const value of importedTips(known, move)) {
      if (!(await isBrought(own, value, move))) continue;
      found.push(claimOf(known));
      break;
    }
  }
  return found;
}

/** Branches that a session of the task made also count, because the worktree's HEAD may be on one. */
function importedTips({ git, tip, made }: Known, { taskId, branch }: MovedBranch): readonly string[] {
  const isOfTask = git.fence !== null && basename(git.fence.livePath) === taskId;
  const others = isOfTask ? [...made.values()] : [made.get(branch)];
  return [...(git.branch === branch ? [tip] : []), ...others].filter((value) => typeof value === 'string');
}

async function isBrought(own: OwnGitFolder, value: string, { old, head }: MovedBranch): Promise<boolean> {
  if (value === old) return false;
  const isIn = await isAncestor(own, value, head);
  if (!isIn.ok || !isIn.value) return false;
  const wasIn = old === null ? undefined : await isAncestor(own, value, old);
  return wasIn?.ok !== true || !wasIn.value;
}

function claimOf({ git: { fence } }: Known): ImportingClaim {
  return fence === null ? { task_id: null, epoch: null } : { task_id: basename(fence.livePath), epoch: fence.epoch };
}

function listFolders(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
