import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { changeConfig, enableWorktreeConfig, readConfig } from '../config.ts';
import type { GitFolders } from '../known-folders.ts';
import { findMainBranch, findGitFolders } from '../repository.ts';
import { attempt, git, gitFailure, gitLines, type GitResult, unwrap } from '../run-git.ts';
import { unlockCompletedWorktree } from '../worktree/worktree.ts';
import { endedConfigPath, type Fence, FENCE_FILE, fencePath, readFence, renderFence, rewriteFile } from './fence.ts';
import {
  CREATED_BRANCHES_FILE,
  FENCE_SCRIPT,
  HOOK_NAMES,
  HOOKS_FOLDER,
  PASS_ON_FILE,
  RARE_HOOK_NAMES,
} from './hooks.ts';

export interface FenceRequest {
  readonly stateDir: string;
  readonly project: string;
  readonly taskId: string;
  readonly epoch: number;
  readonly branch: string;
  /** The configured main branch; if omitted, see `findMainBranch`. */
  readonly into?: string | undefined;
}

const SCRIPT = 'fence';

/**
 * Assigns a worktree to a claim: its hooks let only that claim move the task's branch and push, and refuse changes of
 * other refs. A later call replaces the fence. The user's hooks still run.
 */
export async function installFence(worktree: string, request: FenceRequest): Promise<GitResult<Fence>> {
  const { stateDir, project, taskId, epoch, branch } = request;
  return attempt(async () => {
    const { gitDir, commonDir } = unwrap(await findLinked(worktree));
    const hooksPath = join(gitDir, HOOKS_FOLDER);
    unwrap(await enableWorktreeConfig(commonDir));
    const before = unwrap(await readConfig(worktree, ['--worktree', '--type=path'], 'core.hooksPath'));
    const earlier = readFence(gitDir);
    const main = await findMainBranch(worktree, request.into);
    const fence: Fence = {
      taskId,
      epoch,
      branch,
      livePath: fencePath(stateDir, project, taskId),
      hooksDir: join(commonDir, 'hooks'),
      ownHooksPath: isFencePath(before) ? (earlier?.ownHooksPath ?? '') : (before ?? ''),
      mainBranch: main.ok ? main.value.name : '',
    };
    const odd = Object.values(fence).find((value) => /[\n\r]/.test(String(value)));
    if (odd !== undefined)
      unwrap(gitFailure('git/odd-path', `a line break in '${odd}'`, 'Choose a path without line breaks.'));
    const rare = await findRareHooks(worktree, fence);
    const passOn = rare.includes('reference-transaction') ? [PASS_ON_FILE] : [];
    writeHooks(hooksPath, [...HOOK_NAMES, ...rare, ...passOn]);
    // Branches created under an earlier claim are not this claim's.
    if (earlier?.taskId !== taskId || earlier.epoch !== epoch)
      rmSync(join(gitDir, CREATED_BRANCHES_FILE), { force: true });
    rewriteFile(join(gitDir, FENCE_FILE), renderFence(fence));
    await setFenceConfig(worktree, hooksPath, fence);
    await unlockCompletedWorktree(gitDir);
    return fence;
  });
}

/** A worktree added from a fenced one copies its configuration, including the hooks path of the other fence. */
function isFencePath(path: string | null): boolean {
  return path !== null && basename(path) === HOOKS_FOLDER;
}

export async function findFenceHooks(worktree: string): Promise<string | null> {
  const found = await findGitFolders(worktree);
  return found.ok && readFence(found.value.gitDir) !== null ? join(found.value.gitDir, HOOKS_FOLDER) : null;
}

/** The claim that a worktree belongs to; null if it has no fence. */
export async function findClaimFence(worktree: string): Promise<Pick<Fence, 'livePath' | 'epoch'> | null> {
  const found = await findGitFolders(worktree);
  const fence = found.ok ? readFence(found.value.gitDir) : null;
  return fence === null ? null : { livePath: fence.livePath, epoch: fence.epoch };
}

/** The fence of a worktree; null if the fence or the worktree is missing or incomplete. */
export async function findFence(worktree: string): Promise<GitResult<Fence | null>> {
  if (!existsSync(worktree)) return { ok: true, value: null };
  const found = await findGitFolders(worktree);
  if (!found.ok) return found;
  const hooksPath = join(found.value.gitDir, HOOKS_FOLDER);
  const configured = await readConfig(worktree, ['--type=path'], 'core.hooksPath');
  if (!configured.ok) return configured;
  const stands = configured.value === hooksPath && HOOK_NAMES.every((name) => existsSync(join(hooksPath, name)));
  return { ok: true, value: stands ? readFence(found.value.gitDir) : null };
}

async function findLinked(worktree: string): Promise<GitResult<GitFolders>> {
  const found = await findGitFolders(worktree);
  if (!found.ok || found.value.gitDir !== found.value.commonDir) return found;
  const hint = 'Only linked worktrees, which belong to one task, can have a fence.';
  return gitFailure('git/main-worktree', `'${worktree}' is the main worktree`, hint);
}

/** A missing hook would allow everything, so the script is replaced atomically and never removed. */
function writeHooks(hooksPath: string, names: readonly string[]): void {
  const script = join(hooksPath, SCRIPT);
  const temporary = join(hooksPath, `.${SCRIPT}.${process.pid}.tmp`);
  mkdirSync(hooksPath, { recursive: true });
  writeFileSync(temporary, FENCE_SCRIPT, { mode: 0o755 });
  renameSync(temporary, script);
  for (const name of names) {
    if (!existsSync(join(hooksPath, name))) symlinkSync(SCRIPT, join(hooksPath, name));
  }
}

/** Finds the user's hooks as the script does, without the fence's own folder. */
async function findRareHooks(worktree: string, fence: Fence): Promise<string[]> {
  const args = ['config', '--show-scope', '--type=path', '--get-all', 'core.hooksPath'];
  const lines = unwrap(await gitLines(args, { cwd: worktree, answers: [1] }));
  const configured = lines.map((line) => line.split('\t')).findLast(([scope]) => scope !== 'worktree');
  const folder = resolve(worktree, fence.ownHooksPath || (configured?.[1] ?? fence.hooksDir));
  return [...RARE_HOOK_NAMES, 'reference-transaction'].filter((name) => existsSync(join(folder, name)));
}

/**
 * Configures a worktree for its fence. `git gc` packs refs of others and `git fetch` brings new tags, which the fence
 * refuses, so both are turned off. Git copies these settings into worktrees added from this one.
 */
async function setFenceConfig(worktree: string, hooksPath: string, { branch, livePath }: Fence): Promise<void> {
  // The names are in lower case, as git lists them.
  const wanted = new Map([
    ['core.hookspath', hooksPath],
    ['gc.packrefs', 'false'],
    [`includeif.onbranch:${branch}.path`, endedConfigPath(livePath)],
  ]);
  const own = new Map<string, string>();
  const parts = unwrap(await git(['config', '--list', '--show-scope', '-z'], { cwd: worktree })).stdout.split('\0');
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [name = '', value = ''] = (parts[i + 1] ?? '').split(/\n(.*)/s);
    const remote = /^remote\.(.+)\.url$/s.exec(name)?.[1];
    if (remote !== undefined) wanted.set(`remote.${remote}.tagopt`, '--no-tags');
    if (parts[i] === 'worktree') own.set(name, value);
  }
  for (const [name, value] of wanted) {
    if (own.get(name) === value) continue;
    unwrap(await changeConfig(worktree, ['--worktree', '--replace-all', name, value]));
  }
}
