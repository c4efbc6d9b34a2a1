import { git, type GitResult } from '../run-git.ts';
import { changeConfig } from '../worktree-config.ts';

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
