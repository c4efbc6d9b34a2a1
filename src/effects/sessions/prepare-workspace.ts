import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWorktree } from '../../git/worktree/create.ts';
import { findMainBranch, findSha } from '../../git/repository.ts';
import { findWorktree } from '../../git/worktree/worktree.ts';

export interface WorkspaceRequest {
  readonly pipelineId: string;
  readonly step: string;
  /** With its templates filled in. */
  readonly branch: string;
  readonly base: string | null;
}

export type Workspace =
  | { readonly ok: true; readonly path: string; readonly branch: string }
  | { readonly ok: false; readonly reason: string };

/**
 * Makes the worktree of a pipeline. A mark is made before git is asked: a branch that is found together with it was made by a daemon
 * that ended before it could say so, and is gone on with; one without it is somebody else's.
 */
export async function prepareWorkspace(
  request: WorkspaceRequest,
  { path, stateDir }: { readonly path: string; readonly stateDir: string },
): Promise<Workspace> {
  const { branch, base } = request;
  const mark = markOf(stateDir, request);
  const isOurs = existsSync(mark);
  if (isOurs) {
    const found = await findWorktree(path, branch);
    const isThere = found.ok && found.value !== null && !found.value.isMissing && !found.value.isBeingMade;
    if (isThere && found.value !== null) return { ok: true, path: found.value.path, branch };
  } else if ((await findSha(path, `refs/heads/${branch}`)) === null) {
    mkdirSync(join(stateDir, 'workspaces'), { recursive: true, mode: 0o700 });
    writeFileSync(mark, branch, { mode: 0o600, flush: true });
  }
  const made = await createWorktree(path, {
    stateDir,
    branch,
    base: base ?? (await defaultBase(path)),
    existingBranch: isOurs ? 'continue' : 'refuse',
  });
  if (made.ok) return { ok: true, path: made.value.path, branch };
  rmSync(mark, { force: true });
  const { message, hint } = made.problem;
  return { ok: false, reason: `${message}. ${hint}` };
}

/** It is on record now. */
export function removeWorkspaceMark(stateDir: string, request: Pick<WorkspaceRequest, 'pipelineId' | 'step'>): void {
  rmSync(markOf(stateDir, request), { force: true });
}

function markOf(stateDir: string, { pipelineId, step }: Pick<WorkspaceRequest, 'pipelineId' | 'step'>): string {
  return join(stateDir, 'workspaces', encodeURIComponent(`${pipelineId}-${step}`));
}

async function defaultBase(path: string): Promise<string> {
  const main = await findMainBranch(path);
  // By its full name: a tag or a file of the same name would come first.
  return main.ok ? main.value.ref : 'HEAD';
}
