import { taskWorktree } from '../api/agent-operations.ts';
import { branchName } from '../git/branch-name.ts';
import { createWorktree } from '../git/create-worktree.ts';
import { installFence } from '../git/install-fence.ts';
import { findMainBranch } from '../git/repository.ts';
import { findWorktree } from '../git/worktrees.ts';
import type { GitFailure } from '../git/run-git.ts';
import type { Answer } from '../api/answer.ts';
import { requireClaim } from '../state/caller.ts';
import { refusal } from '../state/outcome.ts';
import { answerOf, handle } from './handler.ts';

/**
 * A worktree for the claimed task, on a branch of its own, in which git itself refuses whoever has lost the claim. A worktree that
 * an earlier claim on the same task left behind is taken over as it stands: its work is what there is to go on with.
 */
export const worktreeHandler = handle(taskWorktree, async ({ caller, project }) => {
  const settled = await project.keeper.submit({
    actor: 'system:reader',
    decide: ({ state }) => {
      const task = caller.kind === 'session' ? state.tasks.get(caller.taskId) : undefined;
      if (task === undefined || caller.kind !== 'session')
        return refusal('no-claim', 'claim a task first', 'baton task claim');
      const held = requireClaim(task, caller);
      if (!held.ok) return held;
      const { epoch, sessionId, holder } = held.claim;
      return { ok: true, events: [], answer: { id: task.id, title: task.title, epoch, sessionId, holder } };
    },
  });
  if (!settled.ok) return answerOf(settled, () => null);
  const { id, title, epoch, sessionId, holder } = settled.answer;
  const branch = branchName({ id, title });
  if (!branch.ok) return failure(branch);
  const existing = await findWorktree(project.path, branch.value);
  if (!existing.ok) return failure(existing);
  const made = existing.value === null ? await makeWorktree(project.path, branch.value, { taskId: id, holder }) : null;
  if (made !== null && !made.ok) return failure(made);
  const path = made?.value.path ?? existing.value?.path ?? '';
  const fence = { stateDir: project.stateDir, project: project.id, taskId: id, epoch, branch: branch.value };
  const installed = await installFence(path, fence);
  if (!installed.ok) return failure(installed);
  project.fences.add(id, { epoch, sessionId });
  return { ok: true, result: { task_id: id, path, branch: branch.value, is_new: made !== null } };
});

async function makeWorktree(path: string, branch: string, owner: { taskId: string; holder: string }) {
  const main = await findMainBranch(path);
  const base = main.ok ? main.value.name : 'HEAD';
  return createWorktree(path, { branch, base, owner, existingBranch: 'continue' });
}

function failure({ problem: { code, message, hint } }: GitFailure): Answer {
  return { ok: false, error: { code, message, hint } };
}
