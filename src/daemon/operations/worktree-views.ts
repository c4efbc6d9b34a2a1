import { availableParallelism } from 'node:os';
import { join, sep } from 'node:path';
import type { WorktreeView } from '../../api/operations/project.ts';
import { type Fence, readFence } from '../../git/fence/fence.ts';
import { findRepository, type Repository } from '../../git/repository.ts';
import type { GitResult } from '../../git/run-git.ts';
import {
  describeContent,
  type KnownWorktree,
  readWorktreeContent,
  type WorktreeContentOptions,
} from '../../git/worktree/content.ts';
import { WORKTREES_FOLDER } from '../../git/worktree/ignore-rules.ts';
import { createSharedFacts, type SharedFacts } from '../../git/worktree/shared-facts.ts';
import { listWorktrees, readLinkedGitDir, readWorktreeNote, type Worktree } from '../../git/worktree/worktree.ts';
import type { State } from '../../state/state.ts';
import { isCancelled } from '../../state/tasks/task.ts';
import { landedHead } from '../../state/workflow/flow.ts';

export interface WorktreeContext extends WorktreeContentOptions {
  readonly path: string;
  readonly read: <A>(look: (state: State) => A) => Promise<A>;
}

/** Lists all worktrees below `.worktrees`. Others do not belong to Baton. */
export async function viewWorktrees(context: WorktreeContext): Promise<GitResult<WorktreeView[]>> {
  const all = await listWorktrees(context.path);
  if (!all.ok) return all;
  const below = join(all.value[0]?.path ?? context.path, WORKTREES_FOLDER) + sep;
  const own = all.value.filter(({ path, isMain }) => !isMain && path.startsWith(below));
  const main = own.length === 0 ? undefined : await findRepository(context.path);
  if (main?.ok === false) return main;
  const shared = createSharedFacts(context.path, context.mainBranch);
  const views: WorktreeView[] = [];
  const waiting = own.entries();
  const work = async (): Promise<void> => {
    for (const [i, worktree] of waiting) {
      const known = main === undefined ? undefined : await readKnown(worktree, main.value, shared);
      views[i] = await viewWorktree(worktree, context, known);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return { ok: true, value: views };
}

/** Undefined if git must inspect the worktree itself. */
async function readKnown(
  worktree: Worktree,
  { commonDir, mainTop }: Repository,
  shared: SharedFacts,
): Promise<KnownWorktree | undefined> {
  const gitDir = worktree.isMissing ? null : await readLinkedGitDir(worktree, commonDir);
  if (gitDir === null) return undefined;
  return { head: worktree.head, branch: worktree.branch, repository: { gitDir, commonDir, mainTop }, shared };
}

export async function viewWorktree(
  worktree: Worktree,
  context: WorktreeContext,
  known?: KnownWorktree,
): Promise<WorktreeView> {
  const { path, branch, isMissing } = worktree;
  const found = isMissing || known !== undefined ? undefined : await findRepository(path);
  const gitDir = known?.repository.gitDir ?? (found?.ok === true ? found.value.gitDir : undefined);
  const fence = gitDir === undefined ? null : readFence(gitDir);
  const { needed, landed } = await context.read((state) => ({
    needed: findWorktreeNeed(state, path, branch, fence),
    landed: findLanded(state, fence),
  }));
  const content = isMissing ? undefined : await readWorktreeContent(path, { ...context, landed }, known);
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

/** Returns the commit that Baton merged for the task of this worktree; null if it merged none. */
export function findLanded({ tasks }: State, fence: Fence | null): string | null {
  const task = tasks.get(fence?.taskId ?? '');
  return task === undefined ? null : landedHead(task);
}

/** Returns why a worktree must stay. Null only if it is known to be Baton's and its work is over. */
export function findWorktreeNeed(
  state: State,
  path: string,
  branch: string | null,
  fence: Fence | null,
): string | null {
  const runs = [...state.pipelines.values()].filter(({ workspace }) => workspace?.path === path);
  const open = runs.find(({ outcome }) => outcome === null);
  if (open !== undefined) return `pipeline ${open.name} runs there`;
  const agents = [...state.agents.values()].filter(
    ({ task, process }) =>
      process !== 'gone' && state.sessions.get(task?.session_id ?? '')?.prepared?.workspace === path,
  );
  if (agents.length > 0) return `agent ${agents[0]?.plan.name ?? ''} works there`;
  if (fence === null) return runs.length > 0 ? null : 'its owner is not known';
  const task = state.tasks.get(fence.taskId);
  // The task was taken over and continues elsewhere. A current holder may have left the branch for a while.
  if (task === undefined || (branch === null && task.epoch !== fence.epoch)) return null;
  if (task.claim !== null) return `${task.id} is claimed by ${task.claim.holder}`;
  return task.phase === 'COMPLETED' || isCancelled(task) ? null : `${task.id} is ${task.phase}`;
}
