import { isGitRef } from '../protocol/text-format.ts';
import { failed, type GitResult } from './run-git.ts';

export const BRANCH_TEMPLATE = 'feature/{id}-{slug}';

const MAX_SLUG = 40;

/** The branch of a task: the template filled in, in lower case, with `-` for `.`. */
export function branchName(
  task: { readonly id: string; readonly title: string },
  template = BRANCH_TEMPLATE,
): GitResult<string> {
  const values: Record<string, string> = { id: task.id.replaceAll('.', '-').toLowerCase(), slug: slugOf(task.title) };
  const unknown = [...template.matchAll(/\{(\w*)\}/g)].find(([, name = '']) => !(name in values));
  if (unknown) {
    const message = `unknown name in the branch template: '${unknown[0]}'`;
    return failed('git/bad-template', message, 'A branch template knows {id} and {slug}.');
  }
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '').toLowerCase();
  // A title in letters that a slug cannot have leaves the slug empty, and its dash behind.
  const name = filled.replaceAll(/-+(?=\/|$)/g, '').replaceAll(/-{2,}/g, '-');
  if (isGitRef(name)) return { ok: true, value: name };
  return failed('git/bad-name', `not a branch name: '${name}'`, 'Change the branch template in baton.toml.');
}

/** A title as a part of a branch name: plain letters and digits with dashes, cut between words. */
export function slugOf(title: string): string {
  const plain = title.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const words = plain.split(/[^a-z0-9]+/).filter((word) => word !== '');
  let slug = '';
  for (const word of words) {
    const longer = slug === '' ? word.slice(0, MAX_SLUG) : `${slug}-${word}`;
    if (longer.length > MAX_SLUG) break;
    slug = longer;
  }
  return slug;
}

/** The folder of a branch's worktree, below `.worktrees`: the branch's name without its first part. */
export function worktreeFolder(branch: string): string {
  const rest = branch.includes('/') ? branch.slice(branch.indexOf('/') + 1) : branch;
  return rest.replaceAll('/', '-');
}
