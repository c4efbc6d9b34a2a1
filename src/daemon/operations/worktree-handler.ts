import { taskWorktree } from '../../api/operations/agents.ts';
import { branchName } from '../../git/worktree/branch-name.ts';
import { createWorktree } from '../../git/worktree/create.ts';
import { findFence, installFence } from '../../git/fence/install.ts';
import { findMainOf } from '../../effects/sessions/main-commit.ts';
import { createTakeoverWorktree } from '../../git/worktree/take-over.ts';
import { recordOrigin } from '../../git/worktree/origin.ts';
import { findWorktree } from '../../git/worktree/worktree.ts';
import type { GitFailure, GitResult } from '../../git/run-git.ts';
import type { Answer } from '../../api/answer.ts';
import { actorOf, checkClaim } from '../../state/caller.ts';
import { refusal } from '../../state/outcome.ts';
import { decideNameBranch } from '../../state/workflow/name-branch.ts';
import type { Call } from './call.ts';
import { answerFor, handlerFor } from './handler.ts';
import { sessionSettingsOf } from '../project/effect-context.ts';

/**
 * A worktree for the claimed task, on a branch of its own, in which git itself refuses whoever has lost the claim. Where an earlier
 * claim left one behind, the branch is gone on with in another beside it: whoever had that claim may still be at work there, and two
 * who write in one folder cannot be told apart.
 */
export const worktreeHandler = handlerFor(taskWorktree, async ({ caller, project, services }) => {
  const settings = sessionSettingsOf(services);
  const { workspace } = settings;
  const template = workspace.branch;
  const settled = await project.commandLoop.submit({
    actor: actorOf(caller),
    decide: ({ state }) => {
      const task = caller.kind === 'session' ? state.tasks.get(caller.taskId) : undefined;
      if (task === undefined || caller.kind !== 'session')
        return refusal('no-claim', 'claim a task first', 'baton task claim');
      const held = checkClaim(task, caller);
      if (!held.ok) return held;
      const { epoch, sessionId, holder } = held.claim;
      const named = branchName(task, template);
      if (!named.ok) return refusal(named.problem.code, named.problem.message, named.problem.hint);
      const { id } = task;
      const branch = decideNameBranch(state, { id, epoch, branch: named.value });
      return branch.ok ? { ...branch, answer: { id, epoch, sessionId, holder, branch: branch.answer } } : branch;
    },
  });
  if (!settled.ok) return answerFor(settled, () => null);
  const { id, epoch, sessionId, holder, branch } = settled.answer;
  const main = await findMainOf(null, {
    path: project.path,
    settingsFor: () => settings,
    readState: async (look) => {
      const read = await project.commandLoop.read(({ state }) => look(state));
      return read.ok ? read.answer : undefined;
    },
    recordMainMoves: async () => project.mainWatch.poll(),
  });
  const into = main.ok ? main.value.name : settings.into;
  const { path: repository, stateDir } = project;
  const ground = { path: repository, stateDir, base: main.ok ? main.value.sha : 'HEAD' };
  const found = await findTaskWorktree(ground, branch, { taskId: id, epoch, holder });
  if (!found.ok) return gitFailureAnswer(found);
  const { path, isNew, earlier } = found.value;
  const kept = await recordOrigin(project.stateDir, path, { copied: {}, linked: [] });
  if (!kept.ok) return gitFailureAnswer(kept);
  const fence = { stateDir: project.stateDir, project: project.id, taskId: id, epoch, branch, into };
  const installed = await installFence(path, fence);
  if (!installed.ok) return gitFailureAnswer(installed);
  // Git took its time. What the fence says is what holds now, not what held when we were asked.
  const live = await project.commandLoop.read(({ state }) => state.tasks.get(id)?.claim ?? null);
  if (!live.ok) return answerFor(live, () => null);
  project.fences.add(id, live.answer);
  if (live.answer?.sessionId !== sessionId) {
    const hint = 'Stop working on this task.';
    return answerFor(refusal('claim-ended', `the claim on ${id} ended while its worktree was made`, hint), () => null);
  }
  const before = earlier === null ? {} : { earlier_path: earlier };
  return { ok: true, result: { task_id: id, path, branch, is_new: isNew, ...before } };
});

interface TaskWorktree {
  readonly path: string;
  readonly isNew: boolean;
  /** Where whoever had the task before was at work: what they did not commit is there. */
  readonly earlier: string | null;
}

/** `base`: where a new branch begins. */
type WorktreeBase = Pick<Call['project'], 'path' | 'stateDir'> & { readonly base: string };

interface WorktreeOwner {
  readonly taskId: string;
  readonly epoch: number;
  readonly holder: string;
}

async function findTaskWorktree(
  project: WorktreeBase,
  branch: string,
  owner: WorktreeOwner,
): Promise<GitResult<TaskWorktree>> {
  const { path: repository, stateDir } = project;
  const existing = await findWorktree(repository, branch);
  if (!existing.ok) return existing;
  const earlier = existing.value?.path ?? null;
  // A worktree without our fence, or with that of another task, is somebody's own: it is not taken from them, and the error says whose it is.
  const fence = earlier === null ? null : await findFence(earlier);
  if (fence?.ok === false) return fence;
  if (earlier === null || fence?.value?.taskId !== owner.taskId)
    return makeTaskWorktree(project, branch, fence?.value ? null : owner);
  if (fence.value.epoch === owner.epoch) return { ok: true, value: { path: earlier, isNew: false, earlier: null } };
  const taken = await createTakeoverWorktree(repository, { stateDir, branch, epoch: owner.epoch });
  return taken.ok ? { ok: true, value: { path: taken.value.path, isNew: true, earlier } } : taken;
}

async function makeTaskWorktree(
  { path: repository, stateDir, base }: WorktreeBase,
  branch: string,
  owner: WorktreeOwner | null,
): Promise<GitResult<TaskWorktree>> {
  const made = await createWorktree(repository, {
    stateDir,
    branch,
    base,
    owner,
    existingBranch: 'continue',
    hold: true,
  });
  return made.ok ? { ok: true, value: { path: made.value.path, isNew: true, earlier: null } } : made;
}

function gitFailureAnswer({ problem: { code, message, hint } }: GitFailure): Answer {
  return { ok: false, error: { code, message, hint } };
}
