import { join, sep } from 'node:path';
import { WORKTREES_FOLDER } from '../../git/worktree/hide-worktrees.ts';
import { removeMergedBranch } from '../../git/worktree/remove-merged-branch.ts';
import { removeWorktree } from '../../git/worktree/remove.ts';
import { listWorktrees } from '../../git/worktree/worktree.ts';
import type { Command } from '../../state/decide.ts';
import type { Effect } from '../../state/runs/effect.ts';
import { isCancelled } from '../../state/tasks/task.ts';
import type { ClearPlace } from '../../state/workflow/clear-place.ts';
import { renderGithubProblem } from '../merges/github.ts';
import type { EffectContext } from '../context.ts';

type ClearPlaceEffect = Extract<Effect, { kind: 'clear-place' }>;
type Cleared = Omit<ClearPlace, 'taskId'>;

/**
 * Removes the worktree and the branch of a cancelled task, if nothing uncommitted, unpushed or unmerged is in them. Sessions that prepare
 * their place wait for it, and a task that was reinstated first keeps what it has.
 */
export async function clearPlace(
  { taskId, branch }: ClearPlaceEffect,
  world: EffectContext,
): Promise<readonly Command[]> {
  return world.placeMutex.run(branch, async () => {
    const task = await world.readState(({ tasks }) => tasks.get(taskId));
    if (task === undefined || !isCancelled(task)) return [];
    const { workspace, into } = world.settingsFor(task);
    const configured = [...workspace.copy, ...workspace.link];
    const cleared = await clearWorktree(branch, world.path, { stateDir: world.stateDir, mainBranch: into, configured });
    return [{ kind: 'clear-place', command: { taskId, ...cleared } }];
  });
}

async function clearWorktree(
  branch: string,
  path: string,
  guard: Parameters<typeof removeWorktree>[2],
): Promise<Cleared> {
  const all = await listWorktrees(path);
  if (!all.ok) return { outcome: 'kept', reason: renderGithubProblem(all.problem) };
  const worktree = all.value.find((each) => each.branch === branch);
  if (worktree === undefined) {
    const gone = await removeMergedBranch(path, branch, guard.mainBranch);
    return gone.ok
      ? { outcome: gone.value, reason: null }
      : { outcome: 'kept', reason: renderGithubProblem(gone.problem) };
  }
  // A worktree outside of Baton's folder belongs to the user.
  const below = join(all.value[0]?.path ?? path, WORKTREES_FOLDER) + sep;
  if (!worktree.path.startsWith(below)) return { outcome: 'kept', reason: `it is checked out at ${worktree.path}` };
  const removed = await removeWorktree(path, worktree.path, guard);
  return removed.ok
    ? { outcome: 'removed', reason: null }
    : { outcome: 'kept', reason: renderGithubProblem(removed.problem) };
}
