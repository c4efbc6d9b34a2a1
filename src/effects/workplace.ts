import { resolve } from 'node:path';
import type { State } from '../state/state.ts';

/** Where the steps of a pipeline run: in its worktree, or in that of the pipeline around it, or in the repository itself. */
export function workplaceOf(state: State, pipelineId: string | undefined, path: string): string {
  let pipeline = pipelineId === undefined ? undefined : state.pipelines.get(pipelineId);
  while (pipeline !== undefined) {
    if (pipeline.workspace !== null) return pipeline.workspace.path;
    pipeline = pipeline.parent === null ? undefined : state.pipelines.get(pipeline.parent.pipelineId);
  }
  return path;
}

/** A folder that a plan names, below the place it belongs to. */
export function within(place: string, cwd: string | undefined): string {
  return cwd === undefined ? place : resolve(place, cwd);
}
