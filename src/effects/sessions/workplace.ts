import { resolve } from 'node:path';
import type { State } from '../../state/state.ts';

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
