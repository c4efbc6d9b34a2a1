import { resolve } from 'node:path';
import { findMainBranch, type MainBranchHead } from '../../git/repository.ts';
import type { GitResult } from '../../git/run-git.ts';
import { findSharedRemote } from '../../state/fleet/fleet.ts';
import { acceptedMain, type AcceptedMain, findMain } from '../../state/main/main-branch.ts';
import type { State } from '../../state/state.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { EffectContext } from '../context.ts';

/** The worktree of a pipeline, or of the pipeline that contains it; null if neither has one. */
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

/** Where a pipeline's steps run: in its worktree, else in the session's worktree, else in the repository. */
export function workplaceOf(state: State, pipelineId: string | undefined, path: string): string {
  const session = state.pipelines.get(pipelineId ?? '')?.task?.session_id;
  const prepared = state.sessions.get(session ?? '')?.prepared;
  return findWorkspace(state, pipelineId)?.path ?? prepared?.workspace ?? path;
}

export function resolveWithin(place: string, cwd: string | undefined): string {
  return cwd === undefined ? place : resolve(place, cwd);
}

/**
 * Returns the main branch of a task: the one that its runbook names, else the recorded one. The repository decides only
 * before the first observation, because an agent can write `refs/remotes/origin/HEAD`. While new commits on the main
 * branch wait for a person, the last accepted commit counts, so that a session that moved the branch cannot hide its
 * work from a reviewer.
 */
export async function findMainOf(
  task: Pick<Task, 'flow'> | null,
  context: Pick<EffectContext, 'path' | 'settingsFor' | 'readState' | 'recordMainMoves'>,
): Promise<GitResult<MainBranchHead>> {
  await context.recordMainMoves();
  const accepted = await context.readState(recordedMain);
  const name = context.settingsFor(task).into ?? accepted?.branch;
  if (accepted?.sha !== undefined && accepted.branch === name)
    return { ok: true, value: { name, sha: accepted.sha, ref: `refs/heads/${name}` } };
  return findMainBranch(context.path, name);
}

/**
 * In a fleet the recorded position is the remote's and takes precedence: a host's branch may be behind or have its own
 * commits.
 */
function recordedMain(state: State): AcceptedMain | undefined {
  const accepted = acceptedMain(state);
  if (accepted === undefined || accepted.sha !== undefined || !isShared(state)) return accepted;
  const { sha } = findMain(state) ?? {};
  return sha === undefined ? accepted : { ...accepted, sha };
}

/** Whether hosts share the main branch of a remote. */
function isShared(state: State): boolean {
  return findSharedRemote(state) !== null;
}

/** `into` is empty if the runbook names no branch. */
export async function findBaseOf(
  into: string,
  { path, readState }: Pick<EffectContext, 'path' | 'readState'>,
): Promise<GitResult<MainBranchHead>> {
  const recorded = await readState((state) => ({ ...recordedMain(state), isShared: isShared(state) }));
  const name = into === '' ? recorded?.branch : into;
  if (recorded?.isShared === true && recorded.sha !== undefined && name !== undefined && recorded.branch === name)
    return { ok: true, value: { name, sha: recorded.sha, ref: `refs/heads/${name}` } };
  return findMainBranch(path, name);
}
