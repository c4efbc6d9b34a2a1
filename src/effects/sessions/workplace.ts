import { resolve } from 'node:path';
import { findMainBranch, type MainBranchHead } from '../../git/repository.ts';
import type { GitResult } from '../../git/run-git.ts';
import { acceptedMain } from '../../state/main/main-branch.ts';
import type { State } from '../../state/state.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { EffectContext } from '../context.ts';

/** The worktree of a pipeline, or that of the pipeline around it; null where there is none. */
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

/**
 * Where the steps of a pipeline run: in its worktree, else in that of the task where an agent of the same session has one, else in the
 * repository itself.
 */
export function workplaceOf(state: State, pipelineId: string | undefined, path: string): string {
  const session = state.pipelines.get(pipelineId ?? '')?.task?.session_id;
  const prepared = state.sessions.get(session ?? '')?.prepared;
  return findWorkspace(state, pipelineId)?.path ?? prepared?.workspace ?? path;
}

/** A folder that a plan names, below the place it belongs to. */
export function resolveWithin(place: string, cwd: string | undefined): string {
  return cwd === undefined ? place : resolve(place, cwd);
}

/**
 * The main branch that a task's work begins at, is compared with and is merged into: the one that its runbook names, else the one on
 * record. The repository decides only before the first look: an agent can write `refs/remotes/origin/HEAD`. While commits on the main
 * branch wait for a person, the last accepted commit counts, so that a session that moved the branch cannot hide its work from a reviewer.
 */
export async function findMainOf(
  task: Pick<Task, 'flow'> | null,
  {
    path,
    settingsFor,
    readState: read,
    recordMainMoves: lookAtMain,
  }: Pick<EffectContext, 'path' | 'settingsFor' | 'readState' | 'recordMainMoves'>,
): Promise<GitResult<MainBranchHead>> {
  await lookAtMain();
  const accepted = await read(acceptedMain);
  const name = settingsFor(task).into ?? accepted?.branch;
  if (accepted?.sha !== undefined && accepted.branch === name)
    return { ok: true, value: { name, sha: accepted.sha, ref: `refs/heads/${name}` } };
  return findMainBranch(path, name);
}

/** The branch that a merge was asked for; `into` is empty if the runbook names none. */
export async function findBaseOf(
  into: string,
  { path, readState: read }: Pick<EffectContext, 'path' | 'readState'>,
): Promise<GitResult<MainBranchHead>> {
  return findMainBranch(path, into === '' ? (await read(acceptedMain))?.branch : into);
}
