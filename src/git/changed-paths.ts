import { git, type GitResult, type GitLocation } from './run-git.ts';

/** The files that differ between two commits. A rename is a file gone and a file come: content is what counts here. */
export async function readChangedPaths(
  repository: GitLocation,
  from: string,
  to: string,
): Promise<GitResult<string[]>> {
  const asked = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--end-of-options', from, to, '--'];
  const names = await git(asked, { cwd: repository, maxBytes: 64 * 1024 * 1024 });
  return names.ok ? { ok: true, value: names.value.stdout.split('\0').filter((path) => path !== '') } : names;
}

export type ChangeSide = 'before' | 'after' | 'between';

/**
 * Which side of a change (`from` → `to`) another commit has: `after` where every file is as the change left it, `before`
 * where every file is as it was without the change. A change of nothing is on no side.
 */
export async function readChangeSide(
  repository: GitLocation,
  from: string,
  to: string,
  other: string,
): Promise<GitResult<ChangeSide>> {
  const changed = await readChangedPaths(repository, from, to);
  if (!changed.ok || changed.value.length === 0) return changed.ok ? { ok: true, value: 'between' } : changed;
  const same = async (side: string): Promise<GitResult<boolean>> => {
    const differing = await readChangedPaths(repository, side, other);
    if (!differing.ok) return differing;
    const paths = new Set(differing.value);
    return { ok: true, value: changed.value.every((path) => !paths.has(path)) };
  };
  const after = await same(to);
  if (!after.ok || after.value) return after.ok ? { ok: true, value: 'after' } : after;
  const before = await same(from);
  return before.ok ? { ok: true, value: before.value ? 'before' : 'between' } : before;
}
