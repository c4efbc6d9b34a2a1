import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { changeConfig, enableWorktreeConfig, readConfig } from '../config.ts';
import { findMainBranch, findRepository, type Repository } from '../repository.ts';
import { git, gitFailure, gitLines, type GitResult } from '../run-git.ts';
import { unlockCompletedWorktree } from '../worktree/worktree.ts';
import { type Fence, FENCE_FILE, fencePath, readFence, renderFence, rewriteFile } from './fence.ts';
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
  /** The configured main branch; left out: see `findMainBranch`. */
  readonly into?: string | undefined;
}

const SCRIPT = 'fence';

/**
 * Gives a worktree to a claim: from now on its hooks let only that claim move the task's branch and push, and let nobody move refs
 * that are not the claim's. Doing it again, for the next claim, replaces what was there. The user's own hooks, wherever they are,
 * are called as before.
 */
export async function installFence(worktree: string, request: FenceRequest): Promise<GitResult<Fence>> {
  const found = await findLinked(worktree);
  if (!found.ok) return found;
  const { gitDir, commonDir } = found.value;
  const hooksPath = join(gitDir, HOOKS_FOLDER);
  const enabled = await enableWorktreeConfig(commonDir);
  if (!enabled.ok) return enabled;
  const before = await readConfig(worktree, ['--worktree', '--type=path'], 'core.hooksPath');
  if (!before.ok) return before;
  const earlier = readFence(gitDir);
  const main = await findMainBranch(worktree, request.into);
  const fence: Fence = {
    taskId: request.taskId,
    epoch: request.epoch,
    branch: request.branch,
    livePath: fencePath(request.stateDir, request.project, request.taskId),
    hooksDir: join(commonDir, 'hooks'),
    ownHooksPath: isFencePath(before.value) ? (earlier?.ownHooksPath ?? '') : (before.value ?? ''),
    mainBranch: main.ok ? main.value.name : '',
  };
  const odd = Object.values(fence).find((value) => /[\n\r]/.test(String(value)));
  if (odd !== undefined)
    return gitFailure('git/odd-path', `a line break in '${odd}'`, 'Choose a path without line breaks.');
  const rare = await findRareHooks(worktree, fence);
  if (!rare.ok) return rare;
  const passOn = rare.value.includes('reference-transaction') ? [PASS_ON_FILE] : [];
  writeHooks(hooksPath, [...HOOK_NAMES, ...rare.value, ...passOn]);
  // What an earlier claim created was there when this one began.
  if (earlier?.taskId !== fence.taskId || earlier.epoch !== fence.epoch)
    rmSync(join(gitDir, CREATED_BRANCHES_FILE), { force: true });
  rewriteFile(join(gitDir, FENCE_FILE), renderFence(fence));
  const set = await setFenceConfig(worktree, hooksPath);
  if (!set.ok) return set;
  await unlockCompletedWorktree(gitDir);
  return { ok: true, value: fence };
}

/** A worktree that was added from a fenced one has a copy of its configuration, and so the hooks path of another fence. */
function isFencePath(path: string | null): boolean {
  return path !== null && basename(path) === HOOKS_FOLDER;
}

/** The hooks of a fenced worktree; null if it has no fence. */
export async function findFenceHooks(worktree: string): Promise<string | null> {
  const found = await findRepository(worktree);
  return found.ok && readFence(found.value.gitDir) !== null ? join(found.value.gitDir, HOOKS_FOLDER) : null;
}

/** Takes the fence out of a worktree and gives it back the hooks it had. */
export async function uninstallFence(worktree: string): Promise<GitResult<void>> {
  const found = await findLinked(worktree);
  if (!found.ok) return found;
  const { gitDir } = found.value;
  const restored = await unsetFenceConfig(worktree, readFence(gitDir)?.ownHooksPath ?? '');
  if (!restored.ok) return restored;
  rmSync(join(gitDir, CREATED_BRANCHES_FILE), { force: true });
  rmSync(join(gitDir, HOOKS_FOLDER), { recursive: true, force: true });
  rmSync(join(gitDir, FENCE_FILE), { force: true });
  return { ok: true, value: undefined };
}

/** The fence that stands in a worktree; null where there is none, a part of it was taken away, or the whole worktree. */
export async function findFence(worktree: string): Promise<GitResult<Fence | null>> {
  if (!existsSync(worktree)) return { ok: true, value: null };
  const found = await findRepository(worktree);
  if (!found.ok) return found;
  const hooksPath = join(found.value.gitDir, HOOKS_FOLDER);
  const configured = await readConfig(worktree, ['--type=path'], 'core.hooksPath');
  if (!configured.ok) return configured;
  const stands = configured.value === hooksPath && HOOK_NAMES.every((name) => existsSync(join(hooksPath, name)));
  return { ok: true, value: stands ? readFence(found.value.gitDir) : null };
}

async function findLinked(worktree: string): Promise<GitResult<Repository>> {
  const found = await findRepository(worktree);
  if (!found.ok || found.value.gitDir !== found.value.commonDir) return found;
  const hint = 'Fences stand in linked worktrees, which belong to one task.';
  return gitFailure('git/main-worktree', `'${worktree}' is the main worktree`, hint);
}

/** A hook that is not there, if only for a moment, lets everything through: so the script is replaced, never removed. */
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

/** The same look for the user's hooks as the script makes, without the fence's own folder. */
async function findRareHooks(worktree: string, fence: Fence): Promise<GitResult<string[]>> {
  const asked = ['config', '--show-scope', '--type=path', '--get-all', 'core.hooksPath'];
  const lines = await gitLines(asked, { cwd: worktree, answers: [1] });
  if (!lines.ok) return lines;
  const configured = lines.value.map((line) => line.split('\t')).findLast(([scope]) => scope !== 'worktree');
  const folder = resolve(worktree, fence.ownHooksPath || (configured?.[1] ?? fence.hooksDir));
  return {
    ok: true,
    value: [...RARE_HOOK_NAMES, 'reference-transaction'].filter((name) => existsSync(join(folder, name))),
  };
}

/**
 * Points a worktree to the hooks of its fence. Two commands of git would fail because the fence refuses a part of what they do:
 * `git gc` also packs the refs of others, and `git fetch` also brings new tags. In a fenced worktree they leave that part out. Git
 * copies these settings into every worktree that is added from this one.
 */
export async function setFenceConfig(worktree: string, hooksPath: string): Promise<GitResult<void>> {
  const now = await listConfig(worktree);
  if (!now.ok) return now;
  const wanted: readonly (readonly [string, string])[] = [
    [HOOKS_PATH, hooksPath],
    [PACK_REFS, 'false'],
    ...now.value.remotes.map((remote) => [tagOption(remote), NO_TAGS] as const),
  ];
  for (const [name, value] of wanted) {
    if (now.value.own.get(name) === value) continue;
    const set = await changeConfig(worktree, ['--worktree', '--replace-all', name, value]);
    if (!set.ok) return set;
  }
  return { ok: true, value: undefined };
}

/** Takes the settings back. What somebody has changed meanwhile stays. */
export async function unsetFenceConfig(worktree: string, ownHooksPath: string): Promise<GitResult<void>> {
  const now = await listConfig(worktree);
  if (!now.ok) return now;
  const hooks = ownHooksPath === '' ? ['--unset-all', HOOKS_PATH] : ['--replace-all', HOOKS_PATH, ownHooksPath];
  const changes = [
    hooks,
    ['--unset-all', PACK_REFS, '^false$'],
    ...now.value.remotes.map((remote) => ['--unset-all', tagOption(remote), `^${NO_TAGS}$`]),
  ];
  for (const change of changes) {
    const changed = await changeConfig(worktree, ['--worktree', ...change]);
    if (!changed.ok) return changed;
  }
  return { ok: true, value: undefined };
}

/** In the spelling in which git lists them. */
const HOOKS_PATH = 'core.hookspath';
const PACK_REFS = 'gc.packrefs';
const NO_TAGS = '--no-tags';

function tagOption(remote: string): string {
  return `remote.${remote}.tagopt`;
}

interface Config {
  readonly remotes: readonly string[];
  /** The worktree's own settings. */
  readonly own: ReadonlyMap<string, string>;
}

async function listConfig(worktree: string): Promise<GitResult<Config>> {
  const listed = await git(['config', '--list', '--show-scope', '-z'], { cwd: worktree });
  if (!listed.ok) return listed;
  const remotes = new Set<string>();
  const own = new Map<string, string>();
  const parts = listed.value.stdout.split('\0');
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [name = '', value = ''] = (parts[i + 1] ?? '').split(/\n(.*)/s);
    const remote = /^remote\.(.+)\.url$/s.exec(name)?.[1];
    if (remote !== undefined) remotes.add(remote);
    if (parts[i] === 'worktree') own.set(name, value);
  }
  return { ok: true, value: { remotes: [...remotes], own } };
}
