import { taskWorktree } from '../../api/operations/agents.ts';
import * as operations from '../../api/operations/project.ts';
import { findMainOf } from '../../effects/sessions/workplace.ts';
import { bringCommit, bringWork } from '../../effects/travel/bring-work.ts';
import { restoreFiles } from '../../effects/travel/restore-files.ts';
import { readFence } from '../../git/fence/fence.ts';
import { findFence, installFence } from '../../git/fence/install.ts';
import { findRepository } from '../../git/repository.ts';
import type { GitResult } from '../../git/run-git.ts';
import { branchName, createTakeoverWorktree, createWorktree } from '../../git/worktree/create.ts';
import { recordOrigin } from '../../git/worktree/origin.ts';
import { removeWorktree } from '../../git/worktree/remove.ts';
import { findWorktree, listWorktrees } from '../../git/worktree/worktree.ts';
import { actorOf, checkClaim } from '../../state/caller.ts';
import { refusal } from '../../state/outcome.ts';
import type { State } from '../../state/state.ts';
import { decideNameBranch } from '../../state/workflow/session-place.ts';
import { sessionSettingsOf } from '../project/effect-context.ts';
import { type Call, handlerFor, problemAnswer, refusalOf } from './call.ts';
import { findLanded, viewWorktree, viewWorktrees, type WorktreeContext } from './worktree-views.ts';

export const WORKTREE_HANDLERS = {
  worktree_list: handlerFor(operations.worktreeList, async (call) => {
    const views = await viewWorktrees(worktreeContextOf(call));
    if (!views.ok) return { ok: false, error: views.problem };
    return { ok: true, result: { worktrees: views.value } };
  }),

  worktree_prune: handlerFor(operations.worktreePrune, async (call) => {
    const context = worktreeContextOf(call);
    const views = await viewWorktrees(context);
    if (!views.ok) return { ok: false, error: views.problem };
    const free = views.value.filter(({ needed, holds }) => needed === null && holds.length === 0);
    const removed: string[] = [];
    for (const { path, branch } of free) {
      if (call.input.dry_run === true || (await pruneWorktree(path, branch ?? path, call, context))) removed.push(path);
    }
    const kept = views.value.filter(({ path }) => !removed.includes(path));
    return { ok: true, result: { removed, kept, dry_run: call.input.dry_run === true } };
  }),
};

/** Checks again under the lock of the branch, so that no effect starts work there in the meantime. */
async function pruneWorktree(
  path: string,
  name: string,
  { project }: Call,
  context: WorktreeContext,
): Promise<boolean> {
  return project.places.run(name, async () => {
    const all = await listWorktrees(context.path);
    const worktree = all.ok ? all.value.find((each) => each.path === path) : undefined;
    if (worktree === undefined) return false;
    const { needed, holds } = await viewWorktree(worktree, context);
    if (needed !== null || holds.length > 0) return false;
    const found = await findRepository(path);
    const fence = found.ok ? readFence(found.value.gitDir) : null;
    const landed = await context.read((state) => findLanded(state, fence));
    return (await removeWorktree(context.path, path, { ...context, landed })).ok;
  });
}

function worktreeContextOf({ project, services }: Call): WorktreeContext {
  const { workspace, merge } = services.rulebook.runbookFor(null);
  return {
    path: project.path,
    stateDir: project.stateDir,
    mainBranch: merge?.into,
    configured: [...workspace.copy, ...workspace.link],
    read: async <A>(look: (state: State) => A) => {
      const settled = await project.commandLoop.read(({ state }) => look(state));
      if (!settled.ok) throw new Error('the store does not answer');
      return settled.answer;
    },
  };
}

/**
 * Makes or finds the caller's worktree. Git refuses commits there once the claim is lost. An earlier claim's worktree
 * is not reused, because its holder may still write to it.
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
      return branch.ok ? { ...branch, answer: { id, task, epoch, sessionId, holder, branch: branch.answer } } : branch;
    },
  });
  if (!settled.ok) return refusalOf(settled);
  const { id, task, epoch, sessionId, holder, branch } = settled.answer;
  const readState = async <A>(look: (state: State) => A): Promise<A | undefined> => {
    const read = await project.commandLoop.read(({ state }) => look(state));
    return read.ok ? read.answer : undefined;
  };
  const main = await findMainOf(null, {
    path: project.path,
    settingsFor: () => settings,
    readState,
    recordMainMoves: async () => project.mainWatch.poll(),
  });
  const fleet = { path: project.path, ownRepository: project.own, readState, here: () => project.here, log: QUIET };
  const brought = await bringWork(task, { branch, epoch }, fleet);
  if (!brought.ok) return problemAnswer(brought.problem);
  const based = main.ok && project.here !== undefined ? await bringCommit(main.value.sha, fleet) : brought;
  if (!based.ok) return problemAnswer(based.problem);
  const into = main.ok ? main.value.name : settings.into;
  const { path: repository, stateDir } = project;
  const ground = { path: repository, stateDir, base: main.ok ? main.value.sha : 'HEAD' };
  const found = await findTaskWorktree(ground, branch, { taskId: id, epoch, holder });
  if (!found.ok) return problemAnswer(found.problem);
  const { path, isNew, earlier } = found.value;
  const restored = brought.value === null || !isNew ? brought : await restoreFiles(path, brought.value);
  if (!restored.ok) return problemAnswer(restored.problem);
  const kept = await recordOrigin(project.stateDir, path, { copied: {}, linked: [] });
  if (!kept.ok) return problemAnswer(kept.problem);
  const fence = { stateDir: project.stateDir, project: project.id, taskId: id, epoch, branch, into };
  const installed = await installFence(path, fence);
  if (!installed.ok) return problemAnswer(installed.problem);
  // The claim may have changed while git ran.
  const live = await project.commandLoop.read(({ state }) => state.tasks.get(id)?.claim ?? null);
  if (!live.ok) return refusalOf(live);
  project.fences.add(id, live.answer);
  if (live.answer?.sessionId !== sessionId) {
    const hint = 'Stop working on this task.';
    return refusalOf(refusal('claim-ended', `the claim on ${id} ended while its worktree was made`, hint));
  }
  const before = earlier === null ? {} : { earlier_path: earlier };
  return { ok: true, result: { task_id: id, path, branch, is_new: isNew, ...before } };
});

/** Needs no log: the answer names the worktree, and kept commits are listed by `git for-each-ref refs/baton/kept`. */
const QUIET = { info: () => undefined, error: () => undefined };

interface TaskWorktree {
  readonly path: string;
  readonly isNew: boolean;
  /** The worktree of the earlier holder, with its uncommitted files. */
  readonly earlier: string | null;
}

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
  // A worktree without Baton's fence, or with another task's, is left alone, and the error names its owner.
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
