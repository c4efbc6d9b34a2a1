import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { quoteForShell } from '../quote-for-shell.ts';
import { gitFailure, git, type GitResult, type OwnGitFolder } from '../run-git.ts';

type Checkout = OwnGitFolder & { readonly worktree: string };

/**
 * Refuses a move that would overwrite files that git does not have. Git itself refuses that only for files that are not ignored: an ignored
 * `.env` of a person would be lost to a branch that adds one.
 */
export async function findOverwrittenFiles(
  place: Checkout,
  settings: readonly string[],
  { from, to }: { readonly from: string; readonly to: string },
): Promise<GitResult<null>> {
  const list = async (...args: string[]): Promise<GitResult<string[]>> => {
    const ran = await git([...settings, ...args], { cwd: place, maxBytes: MOST_BYTES });
    return ran.ok ? { ok: true, value: ran.value.stdout.split('\0').filter((each) => each !== '') } : ran;
  };
  const changed = await list('diff-tree', '-r', '-z', '--no-renames', '--diff-filter=A', from, to, '--');
  if (!changed.ok || changed.value.length === 0) return changed.ok ? { ok: true, value: null } : changed;
  const indexed = await list('ls-files', '-z');
  if (!indexed.ok) return indexed;
  const isCaseless =
    process.platform === 'darwin' || settings.some((each) => /^core\.ignorecase=(?:t|y|on|1)/.test(each));
  const fold = (path: string): string => (isCaseless ? path.toLowerCase() : path);
  const known = new Set(indexed.value.map(fold));
  const clear = new Set<string>();
  for (let i = 0; i + 1 < changed.value.length; i += 2) {
    const path = changed.value[i + 1] ?? '';
    // A submodule may be there already; git looks at it itself.
    if ((changed.value[i] ?? '').startsWith(':000000 160000')) continue;
    const parts = path.split('/');
    for (let end = 1; end <= parts.length; end++) {
      const part = parts.slice(0, end).join('/');
      if (clear.has(part)) continue;
      const found = known.has(fold(part)) ? null : await lstat(join(place.worktree, part)).catch(() => null);
      // What is missing, or in the index, has nothing below it that could be in the way.
      if (found === null) break;
      if (!found.isDirectory()) return wouldOverwrite(place.worktree, part);
      if (end < parts.length) clear.add(part);
      else {
        const inside = await list('--literal-pathspecs', 'ls-files', '--others', '-z', '--', part);
        if (!inside.ok) return inside;
        if (inside.value[0] !== undefined) return wouldOverwrite(place.worktree, inside.value[0]);
      }
    }
  }
  return { ok: true, value: null };
}

const MOST_BYTES = 128 * 1024 * 1024;

function wouldOverwrite(worktree: string, path: string): GitResult<never> {
  const message = `'${path}' in '${worktree}' is not in git, and the merge adds a file there`;
  return gitFailure(
    'git/checkout-in-the-way',
    message,
    `Move it away: mv ${quoteForShell(join(worktree, path))} ELSEWHERE`,
  );
}
