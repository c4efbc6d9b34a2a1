import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { installFence } from '../../git/fence/install.ts';
import { findMainBranch, findGitFolders, findSha } from '../../git/repository.ts';
import type { GitResult } from '../../git/run-git.ts';
import { createWorktree } from '../../git/worktree/create.ts';
import { fillWorktree } from '../../git/worktree/fill.ts';
import { recordOrigin } from '../../git/worktree/origin.ts';
import { findWorktree, readWorktreeNote, writeWorktreeNote } from '../../git/worktree/worktree.ts';
import { renderTemplate } from '../../protocol/text/render-template.ts';
import type { Command } from '../../state/decide.ts';
import type { Events } from '../../state/event.ts';
import type { TaskRef } from '../../state/runs/run-event.ts';
import type { State } from '../../state/state.ts';
import type { EffectContext } from '../context.ts';
import { superviseCommand } from '../processes/command.ts';
import { stepContext } from '../template-context.ts';
import { bringCommit } from '../travel/bring-work.ts';
import { findMainOf } from './workplace.ts';

type WorkspaceRequest = Events['WorkspaceRequested'];

/** Makes the worktree of a pipeline, with a fence if the pipeline works under a claim. */
export async function makeWorkspace(request: WorkspaceRequest, context: EffectContext): Promise<readonly Command[]> {
  const { pipeline_id, step } = request;
  const wanted = await context.readState((state) => fillIn(state, request, context));
  if (wanted === undefined) return [];
  const made = wanted.ok ? await makeFencedWorktree(wanted.request, wanted.task, context) : wanted;
  if (!made.ok) return [{ kind: 'workspace-failed', command: { pipeline_id, step, reason: made.reason } }];
  return [{ kind: 'prepare-workspace', command: { pipeline_id, step, path: made.path, branch: made.branch } }];
}

async function makeFencedWorktree(
  request: WorkspaceRequest,
  task: TaskRef | null,
  context: EffectContext,
): Promise<Workspace> {
  const base = request.base === null ? await findSharedBase(context) : ({ ok: true, value: request.base } as const);
  if (!base.ok) return { ok: false, reason: `${base.problem.message}. ${base.problem.hint}` };
  const made = await prepareWorkspace({ ...request, base: base.value }, context);
  if (!made.ok) return made;
  const kept = await recordOrigin(context.stateDir, made.path, NOTHING);
  if (!kept.ok) return { ok: false, reason: `${kept.problem.message}. ${kept.problem.hint}` };
  if (task === null) return made;
  const { stateDir, projectId: project } = context;
  const { task_id: taskId, epoch } = task;
  const { into } = context.sessions;
  const fenced = await installFence(made.path, { stateDir, project, taskId, epoch, branch: made.branch, into });
  if (!fenced.ok) return { ok: false, reason: `${fenced.problem.message}. ${fenced.problem.hint}` };
  // The claim may have changed while git ran.
  await context.fence(taskId);
  return made;
}

/**
 * In a fleet a worktree starts at the recorded main branch, which this repository may lack. Null on a single machine.
 */
async function findSharedBase(context: EffectContext): Promise<GitResult<string | null>> {
  if (context.here() === undefined) return { ok: true, value: null };
  const main = await findMainOf(null, context);
  // Without a main branch git reports what is missing.
  if (!main.ok) return { ok: true, value: null };
  const brought = await bringCommit(main.value.sha, context);
  return brought.ok ? { ok: true, value: main.value.sha } : brought;
}

/** The steps of a pipeline prepare its worktree themselves. */
const NOTHING = { copied: {}, linked: [] };

type WorkspacePlan =
  | { readonly ok: true; readonly request: WorkspaceRequest; readonly task: TaskRef | null }
  | { readonly ok: false; readonly reason: string };

function fillIn(state: State, asked: WorkspaceRequest, context: EffectContext): WorkspacePlan | undefined {
  const { pipeline_id, step, branch, base } = asked;
  const pipeline = state.pipelines.get(pipeline_id);
  if (pipeline === undefined) return undefined;
  const templates = stepContext(state, pipeline, step, context);
  const name = renderTemplate(branch, templates, { quote: 'none' });
  const from = renderTemplate(base ?? '', templates, { quote: 'none' });
  if (!name.ok) return { ok: false, reason: name.problems.map(({ message }) => message).join('; ') };
  if (!from.ok) return { ok: false, reason: from.problems.map(({ message }) => message).join('; ') };
  const request = { pipeline_id, step, branch: name.value, base: base === null ? null : from.value };
  return { ok: true, request, task: pipeline.task };
}

export type Workspace =
  | { readonly ok: true; readonly path: string; readonly branch: string }
  | { readonly ok: false; readonly reason: string };

/**
 * Makes the worktree of a pipeline. A mark is written before git is called. A branch with a mark was made by a killed
 * daemon and is reused; one without a mark has another owner.
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

/** Called after the outcome is recorded. */
export function removeWorkspaceMark(stateDir: string, request: Pick<WorkspaceRequest, 'pipeline_id' | 'step'>): void {
  rmSync(markOf(stateDir, request), { force: true });
}

function markOf(stateDir: string, { pipeline_id, step }: Pick<WorkspaceRequest, 'pipeline_id' | 'step'>): string {
  return join(stateDir, 'workspaces', encodeURIComponent(`${pipeline_id}-${step}`));
}

async function defaultBase(path: string): Promise<string> {
  const main = await findMainBranch(path);
  // Uses the full name, because a tag or file of the same name would take precedence.
  return main.ok ? main.value.ref : 'HEAD';
}

export type FurnishResult =
  | { readonly ok: true; readonly port: number | null }
  | { readonly ok: false; readonly reason: string };

/** The id of the setup command. It runs once per agent, even if the start is retried. */
export function setupCommandOf(agentId: string): string {
  return `setup-${agentId}`;
}

/**
 * Adds what git does not: configured files, a port, and the result of the setup command, which runs until it has
 * succeeded once. The result is recorded as the worktree's original state. Undefined if the start was cancelled.
 */
export async function furnishWorkspace(
  worktree: string,
  agentId: string,
  context: EffectContext,
  signal: AbortSignal,
): Promise<FurnishResult | undefined> {
  const { workspace } = context.sessions;
  const filled = await fillWorktree(worktree, workspace);
  if (!filled.ok) return { ok: false, reason: `${filled.problem.message}. ${filled.problem.hint}` };
  const port = await context.placeMutex.run(' port', async () => findPort(worktree));
  const { setup, setupTimeoutMs: timeoutMs } = workspace;
  const found = await findGitFolders(worktree);
  if (!found.ok) return { ok: false, reason: found.problem.message };
  const note = readWorktreeNote(found.value.gitDir);
  const keep = async (): Promise<FurnishResult> => {
    const kept = await recordOrigin(context.stateDir, worktree, filled.value);
    return kept.ok ? { ok: true, port } : { ok: false, reason: kept.problem.message };
  };
  if (setup === undefined || note.setup === setup) return keep();
  const env = port === null ? {} : { BATON_PORT: String(port) };
  const prepare = async () => {
    const wish = { task: null, sha: null, keptIn: '', isAwaited: false } as const;
    const lowers = await context.cachesFor(wish, context, signal);
    const sandbox = { folder: worktree, kind: 'install', task: null, cache: { lowers } } as const;
    return { ok: true, shell: { command: setup, cwd: worktree, env, timeoutMs, sandbox } } as const;
  };
  const end = await superviseCommand(setupCommandOf(agentId), prepare, context, signal);
  if (end === undefined) return undefined;
  if (end.exit_code !== 0) {
    const how = end.timed_out ? 'timed out' : `exit code ${end.exit_code ?? 'unknown'}`;
    return { ok: false, reason: `the set-up of its worktree failed (${how}): ${end.output ?? 'no output'}` };
  }
  writeWorktreeNote(found.value.gitDir, { ...note, setup });
  return keep();
}

/** Above the usual ports of programs, and below the range that systems assign at random. */
const FIRST = 3100;
const LAST = 9999;

/** Returns the worktree's port: its own, else the first that no other worktree has and no program listens on. */
async function findPort(worktree: string): Promise<number | null> {
  const own = await findGitFolders(worktree);
  if (!own.ok) return null;
  const note = readWorktreeNote(own.value.gitDir);
  if (note.port !== null) return note.port;
  const taken = await takenPorts(own.value.commonDir);
  for (let port = FIRST; port <= LAST; port++) {
    if (taken.has(port) || !(await isFree(port))) continue;
    writeWorktreeNote(own.value.gitDir, { ...note, port });
    return port;
  }
  return null;
}

async function takenPorts(commonDir: string): Promise<ReadonlySet<number>> {
  const folder = join(commonDir, 'worktrees');
  const names = await readdir(folder).catch(() => []);
  const ports = names.map((name) => readWorktreeNote(join(folder, name)).port);
  return new Set(ports.filter((port) => port !== null));
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
