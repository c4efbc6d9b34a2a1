import { join, sep } from 'node:path';
import { readFence, type Fence } from '../../git/fence/fence.ts';
import { WORKTREES_FOLDER } from '../../git/worktree/hide-worktrees.ts';
import { findRepository } from '../../git/repository.ts';
import type { GitResult } from '../../git/run-git.ts';
import { describeContent, readWorktreeContent, type WorktreeContentOptions } from '../../git/worktree/content.ts';
import { readWorktreeNote } from '../../git/worktree/worktree-note.ts';
import { listWorktrees, type Worktree } from '../../git/worktree/worktree.ts';
import type { State } from '../../state/state.ts';
import { isCancelled } from '../../state/tasks/task.ts';

/** A worktree below `.worktrees`, as every surface shows it. */
export interface WorktreeView {
  readonly path: string;
  readonly branch: string | null;
  readonly task_id: string | null;
  readonly port: number | null;
  /** Why it stays, whatever it holds: somebody works there, or will. Null where nobody needs it. */
  readonly needed: string | null;
  /** What would be lost with it; empty where nothing would. */
  readonly holds: readonly string[];
}

export interface WorktreeContext extends WorktreeContentOptions {
  readonly path: string;
  readonly read: <A>(look: (state: State) => A) => Promise<A>;
}

/** Looks at all of them. The main worktree, and those that are elsewhere, are none of Baton's business. */
export async function viewWorktrees(looking: WorktreeContext): Promise<GitResult<WorktreeView[]>> {
  const all = await listWorktrees(looking.path);
  if (!all.ok) return all;
  const below = join(all.value[0]?.path ?? looking.path, WORKTREES_FOLDER) + sep;
  const own = all.value.filter(({ path, isMain }) => !isMain && path.startsWith(below));
  const views: WorktreeView[] = [];
  for (const worktree of own) views.push(await viewWorktree(worktree, looking));
  return { ok: true, value: views };
}

export async function viewWorktree(worktree: Worktree, looking: WorktreeContext): Promise<WorktreeView> {
  const { path, branch, isMissing } = worktree;
  const found = isMissing ? undefined : await findRepository(path);
  const gitDir = found?.ok === true ? found.value.gitDir : undefined;
  const fence = gitDir === undefined ? null : readFence(gitDir);
  const needed = await looking.read((state) => findNeedOf(state, path, branch, fence));
  const content = isMissing ? undefined : await readWorktreeContent(path, looking);
  const unknown = isMissing ? ['its folder is gone'] : [];
  return {
    path,
    branch,
    task_id: fence?.taskId ?? null,
    port: gitDir === undefined ? null : readWorktreeNote(gitDir).port,
    needed,
    holds: content === undefined ? unknown : content.ok ? describeContent(content.value) : [content.problem.message],
  };
}

/** Only what is known to be Baton's, and to be over, is nobody's any more. */
function findNeedOf(state: State, path: string, branch: string | null, fence: Fence | null): string | null {
  const runs = [...state.pipelines.values()].filter(({ workspace }) => workspace?.path === path);
  const open = runs.find(({ outcome }) => outcome === null);
  if (open !== undefined) return `pipeline ${open.name} runs there`;
  const agents = [...state.agents.values()].filter(
    ({ task, process }) =>
      process !== 'gone' && state.sessions.get(task?.session_id ?? '')?.prepared?.workspace === path,
  );
  if (agents.length > 0) return `agent ${agents[0]?.plan.name ?? ''} works there`;
  if (fence === null) return runs.length > 0 ? null : 'it is not known whose it is';
  const task = state.tasks.get(fence.taskId);
  // Taken over: the task has gone on elsewhere. Whoever has it still may have left the branch for a while.
  if (task === undefined || (branch === null && task.epoch !== fence.epoch)) return null;
  if (task.claim !== null) return `${task.id} is claimed by ${task.claim.holder}`;
  return task.phase === 'COMPLETED' || isCancelled(task) ? null : `${task.id} is ${task.phase}`;
}
