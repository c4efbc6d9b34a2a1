import { defineCheck, type Diagnosis, ok, warning } from '../finding.ts';

export interface WorktreeFacts {
  /** The worktrees below `.worktrees`. Others are not Baton's. */
  readonly worktrees: readonly WorktreeFact[];
  /** False if the tasks of the ledger could not be read. */
  readonly hasTasks: boolean;
  /** Why git cannot list the worktrees. */
  readonly trouble: { readonly message: string; readonly hint: string } | null;
  /** Folders below `.worktrees` that git does not know. */
  readonly unknownFolders: readonly string[];
}

export interface WorktreeFact {
  readonly path: string;
  readonly isMissing: boolean;
  readonly isLocked: boolean;
  readonly taskId: string | null;
  /** Why the worktree must stay; null if its work is over, undefined if unknown. */
  readonly needed: string | null | undefined;
  /** Whether the ledger has the worktree's task. */
  readonly hasTask: boolean;
}

export const worktreesCheck = defineCheck('worktrees', 'The worktrees of tasks, compared with git and the ledger', {
  fit: ok('Each worktree belongs to an open task, or there are none'),
  missing: warning(
    'The folder of a worktree was deleted, and git still has it on record',
    'removes it from the record',
  ),
  'left-over': warning('The task of the worktree is over'),
  'no-task': warning('The ledger has no such task, or Baton did not make the worktree'),
  'not-in-git': warning('A folder among the worktrees that git does not know'),
  unlisted: warning('git cannot list the worktrees'),
});

export function diagnoseWorktrees(facts: WorktreeFacts): readonly Diagnosis[] {
  const { worktrees, hasTasks, trouble, unknownFolders } = facts;
  if (trouble !== null) return [worktreesCheck.found('unlisted', { detail: trouble.message, fix: trouble.hint })];
  const found = worktrees.flatMap((worktree) => diagnoseOne(worktree, hasTasks));
  for (const path of unknownFolders) {
    const detail = `${path} is not a worktree of this repository`;
    found.push(
      worktreesCheck.found('not-in-git', {
        detail,
        fix: 'See what is in the folder, and remove it if you do not need it.',
      }),
    );
  }
  if (found.length > 0) return found;
  const count = worktrees.length;
  const compared = hasTasks ? ', each of an open task' : ', not compared with the tasks';
  const shown = count === 0 ? 'none' : `${count}${compared}`;
  return [worktreesCheck.found('fit', { detail: shown })];
}

function diagnoseOne(
  { path, isMissing, isLocked, taskId, needed, hasTask }: WorktreeFact,
  hasTasks: boolean,
): Diagnosis[] {
  if (isMissing) {
    const detail = `${path} does not exist, and git has it on record; its branch stays`;
    const fix = `git worktree ${isLocked ? 'unlock' : 'remove'} ${path}`;
    const repair = isLocked ? undefined : ({ kind: 'forget-worktree', path } as const);
    return [worktreesCheck.found('missing', { detail, fix, repair })];
  }
  if (taskId === null) {
    if (needed !== undefined && needed !== null && needed !== UNKNOWN_OWNER) return [];
    const detail = `${path} belongs to no task`;
    return [worktreesCheck.found('no-task', { detail, fix: `See what is in the worktree: git -C ${path} status` })];
  }
  if (!hasTasks || needed === undefined) return [];
  if (!hasTask) {
    const detail = `${path} belongs to task ${taskId}, which is not in the ledger`;
    return [worktreesCheck.found('no-task', { detail, fix: `See what is in the worktree: git -C ${path} status` })];
  }
  if (needed !== null) return [];
  const detail = `${path} is no longer needed: task ${taskId} is over`;
  return [
    worktreesCheck.found('left-over', { detail, fix: 'Remove those without unmerged work: baton worktree prune' }),
  ];
}

/** Shown for a worktree without a mark of Baton. */
const UNKNOWN_OWNER = 'its owner is not known';
