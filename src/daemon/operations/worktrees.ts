import * as operations from '../../api/operations/worktree-operations.ts';
import { removeWorktree } from '../../git/worktree/remove.ts';
import { listWorktrees } from '../../git/worktree/worktree.ts';
import type { State } from '../../state/state.ts';
import type { Call } from './call.ts';
import { handlerFor, type OperationHandler } from './handler.ts';
import { viewWorktree, viewWorktrees, type WorktreeContext } from './worktree-views.ts';

export const WORKTREE_HANDLERS: Readonly<Record<string, OperationHandler>> = {
  worktree_list: handlerFor(operations.worktreeList, async (call) => {
    const views = await viewWorktrees(worktreeContextOf(call));
    if (!views.ok) return { ok: false, error: views.problem };
    return { ok: true, result: { worktrees: views.value } };
  }),

  worktree_prune: handlerFor(operations.worktreePrune, async (call) => {
    const looking = worktreeContextOf(call);
    const views = await viewWorktrees(looking);
    if (!views.ok) return { ok: false, error: views.problem };
    const free = views.value.filter(({ needed, holds }) => needed === null && holds.length === 0);
    const removed: string[] = [];
    for (const { path, branch } of free) {
      if (call.input.dry_run === true || (await pruneWorktree(path, branch ?? path, call, looking))) removed.push(path);
    }
    const kept = views.value.filter(({ path }) => !removed.includes(path));
    return { ok: true, result: { removed, kept, dry_run: call.input.dry_run === true } };
  }),
};

/** One at a time with those who begin to work somewhere: what was free a moment ago is looked at again. */
async function pruneWorktree(
  path: string,
  name: string,
  { project }: Call,
  looking: WorktreeContext,
): Promise<boolean> {
  return project.places.run(name, async () => {
    const all = await listWorktrees(looking.path);
    const worktree = all.ok ? all.value.find((each) => each.path === path) : undefined;
    if (worktree === undefined) return false;
    const { needed, holds } = await viewWorktree(worktree, looking);
    if (needed !== null || holds.length > 0) return false;
    return (await removeWorktree(looking.path, path, looking)).ok;
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
