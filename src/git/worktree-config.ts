import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { git, type GitResult } from './run-git.ts';

/** One setting, from where `scope` says; null where it is not set. */
export async function readConfig(
  cwd: string,
  scope: readonly string[],
  name: string,
): Promise<GitResult<string | null>> {
  const value = await git(['config', ...scope, '--get', name], { cwd, answers: [1] });
  if (!value.ok) return value;
  return { ok: true, value: value.value.code === 1 ? null : value.value.stdout.replace(/\n$/, '') };
}

const TRIES = 20;
const PAUSE_MS = 25;

/** Changes the configuration. Git locks the file and does not wait; others change it too, and only for a moment. */
export async function changeConfig(cwd: string, args: readonly string[]): Promise<GitResult<void>> {
  for (let tries = 1; ; tries++) {
    // 5: nothing was there to unset.
    const changed = await git(['config', ...args], { cwd, answers: [5] });
    if (changed.ok) return { ok: true, value: undefined };
    if (tries === TRIES || !/could not lock/.test(changed.problem.message)) return changed;
    await sleep(PAUSE_MS);
  }
}

/**
 * Lets each worktree have its own configuration. Two settings then move to the main worktree's own file, as git's
 * documentation of `extensions.worktreeConfig` asks: otherwise every worktree would take them for its own.
 */
export async function enableWorktreeConfig(commonDir: string): Promise<GitResult<void>> {
  const common = ['--file', join(commonDir, 'config')];
  const main = ['--file', join(commonDir, 'config.worktree')];
  const enabled = await readConfig(commonDir, [...common, '--type=bool'], 'extensions.worktreeConfig');
  if (!enabled.ok || enabled.value === 'true') return enabled.ok ? { ok: true, value: undefined } : enabled;
  const bare = await readConfig(commonDir, [...common, '--type=bool'], 'core.bare');
  if (!bare.ok) return bare;
  const tree = await readConfig(commonDir, common, 'core.worktree');
  if (!tree.ok) return tree;
  const changes = [
    ...(bare.value === 'true' ? [[...main, 'core.bare', 'true']] : []),
    ...(tree.value === null ? [] : [[...main, 'core.worktree', tree.value]]),
    [...common, 'extensions.worktreeConfig', 'true'],
    ...(bare.value === 'true' ? [[...common, '--unset-all', 'core.bare']] : []),
    ...(tree.value === null ? [] : [[...common, '--unset-all', 'core.worktree']]),
  ];
  for (const change of changes) {
    const changed = await changeConfig(commonDir, change);
    if (!changed.ok) return changed;
  }
  return { ok: true, value: undefined };
}
