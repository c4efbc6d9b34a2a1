import { readOperatorConfig } from '../config.ts';
import { git } from '../run-git.ts';

/**
 * Settings that put the operator's own filters in the place of those a repository names, and turn all others off: for commands that only
 * git itself can do in somebody's worktree.
 */
export async function readOperatorFilters(worktree: string): Promise<string[]> {
  const asked = ['config', '--name-only', '-z', '--get-regexp', String.raw`^filter\.`];
  const named = await git(asked, { cwd: worktree, answers: [1] });
  if (!named.ok) return [];
  const names = named.value.stdout.split('\0').filter((name) => name !== '');
  const config = await readOperatorConfig();
  return [...new Set(names)].flatMap((name) => [
    '-c',
    `${name}=${config.get(name) ?? OFF[name.slice(name.lastIndexOf('.') + 1)] ?? ''}`,
  ]);
}

const OFF: Readonly<Record<string, string>> = { required: 'false' };
