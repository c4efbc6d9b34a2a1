import { resolve } from 'node:path';
import { findMainBranch, type MainBranchHead } from '../../git/repository.ts';
import type { GitResult } from '../../git/run-git.ts';
import { acceptedMain } from '../../state/main/main-branch.ts';
import type { State } from '../../state/state.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { EffectContext } from '../context.ts';

/** The worktree of a pipeline, or of the pipeline around it; null if there is none. */
export function findWorkspace(
  state: State,
  pipelineId: string | undefined,
): { readonly path: string; readonly branch: string } | null {
  let pipeline = pipelineId === undefined ? undefined : state.pipelines.get(pipelineId);
  while (pipeline !== undefined) {
    if (pipeline.workspace !== null) return pipeline.workspace;
    pipeline = pipeline.parent === null ? undefined : state.pipelines.get(pipeline.parent.pipelineId);
  }
  return null;
}

/** Where the steps of a pipeline run: in its worktree, else in the worktree of the session, else in the repository. */
export function workplaceOf(state: State, pipelineId: string | undefined, path: string): string {
  const session = state.pipelines.get(pipelineId ?? '')?.task?.session_id;
  const prepared = state.sessions.get(session ?? '')?.prepared;
  return findWorkspace(state, pipelineId)?.path ?? prepared?.workspace ?? path;
}

export function resolveWithin(place: string, cwd: string | undefined): string {
  return cwd === undefined ? place : resolve(place, cwd);
}

/**
 * The main branch of a task: the one that its runbook names, else the recorded one. The repository decides only before the first
 * observation, because an agent can write `refs/remotes/origin/HEAD`. While new commits on the main branch wait for a person, the last
 * accepted commit counts, so that a session that moved the branch cannot hide its work from a reviewer.
 */
export async function findMainOf(
  task: Pick<Task, 'flow'> | null,
  context: Pick<EffectContext, 'path' | 'settingsFor' | 'readState' | 'recordMainMoves'>,
): Promise<GitResult<MainBranchHead>> {
  await context.recordMainMoves();
  const accepted = await context.readState(acceptedMain);
  const name = context.settingsFor(task).into ?? accepted?.branch;
  if (accepted?.sha !== undefined && accepted.branch === name)
    return { ok: true, value: { name, sha: accepted.sha, ref: `refs/heads/${name}` } };
  return findMainBranch(context.path, name);
}

/** `into` is empty if the runbook names no branch. */
export async function findBaseOf(
  into: string,
  { path, readState }: Pick<EffectContext, 'path' | 'readState'>,
): Promise<GitResult<MainBranchHead>> {
  return findMainBranch(path, into === '' ? (await readState(acceptedMain))?.branch : into);
}
