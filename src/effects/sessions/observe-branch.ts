import { existsSync } from 'node:fs';
import { findAutomaticMerge } from '../../git/merge/combine.ts';
import { findImports } from '../../git/private/find-imports.ts';
import { findSha } from '../../git/repository.ts';
import { isAncestor } from '../../git/commits.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { EffectContext } from '../context.ts';
import { findMainOf } from './workplace.ts';

type BranchContext = Pick<
  EffectContext,
  'path' | 'stateDir' | 'ownRepository' | 'readState' | 'submit' | 'settingsFor' | 'recordMainMoves' | 'isolated'
>;

/** Where a session, a check or a merge finds the task's branch. */
export interface FoundBranch {
  readonly branch: string;
  readonly head: string;
}

/**
 * Compares the branch with the recorded head, and records a move that no measured session made, with its source.
 * Resolves to whether it recorded one. A branch without a session of Baton is compared only before its first session.
 */
export async function observeBranch(
  taskId: string,
  { branch, head }: FoundBranch,
  context: BranchContext,
): Promise<boolean> {
  const task = await context.readState(({ tasks }) => tasks.get(taskId));
  if (task === undefined || task.phase === 'COMPLETED' || !isComparable(task, branch)) return false;
  const old = task.flow.head;
  if (old === head) return false;
  const main = await findMainOf(task, context);
  if (!main.ok) return false;
  const own = await context.ownRepository.with(head, main.value.sha, ...(old === null ? [] : [old]));
  if (!own.ok) return false;
  if (old === null && (await isWithin(own.value, head, main.value.sha))) return false;
  const imports = await findImports(context.stateDir, own.value, { taskId, branch, old, head });
  const automatic =
    old === null ? null : await findAutomaticMerge(own.value, { approved: old, tip: head, main: main.value.sha });
  const found = { task_id: taskId, branch, old, new: head, main: automatic, imports };
  const recorded = await context.submit({
    kind: 'observe-branch',
    command: { ...found, isolated: [...context.isolated()] },
  });
  return recorded !== undefined && recorded.refused === undefined;
}

/** Compares the place where the task's next session would start. */
export async function observePlace(taskId: string, context: BranchContext): Promise<boolean> {
  const place = await context.readState(({ tasks }) => tasks.get(taskId)?.flow.place ?? null);
  if (!place) return false;
  const { workspace, branch } = place;
  const head =
    existsSync(workspace) && workspace !== context.path
      ? await findSha(workspace, 'HEAD')
      : await findSha(context.path, `refs/heads/${branch}`);
  return head !== null && observeBranch(taskId, { branch, head }, context);
}

/** A recorded head on another branch, such as that of work by hand, says nothing about this one. */
function isComparable({ flow, latestRecord }: Task, branch: string): boolean {
  if (flow.head === null) return flow.place === null;
  return flow.place?.branch === branch || latestRecord?.branch === branch;
}

async function isWithin(...args: Parameters<typeof isAncestor>): Promise<boolean> {
  const found = await isAncestor(...args);
  return found.ok && found.value;
}
