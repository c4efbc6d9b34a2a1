import { existsSync } from 'node:fs';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import { git as runGit } from '../run-git.ts';
import type { Known } from './known.ts';
import { placeOf, readWorktreeHead } from './move-refs.ts';
import { branchOfHead, isObjectId } from './private-refs.ts';
import { rewriteIndex } from './rewrite-index.ts';
import { HEADS } from './sync-plan.ts';

/**
 * Makes the worktree look normal from outside: HEAD follows the private one, and the index has HEAD's tree. Failures
 * are not errors, because the commits are safe; the next sync tries again.
 */
export async function followWorktree(git: PrivateGit, known: Known, privateHead: string): Promise<Known> {
  if (!existsSync(git.at)) return known;
  const real = await readWorktreeHead(git.at);
  // A person has checked out another branch or commit.
  if (real !== known.head) return known;
  const wanted = headToFollow(git, known, privateHead);
  const head = wanted !== null && wanted !== real && (await writeHead(git, wanted, real)) ? wanted : real;
  const commit = commitOfHead(git, known, head);
  const isIndexed = commit === null || commit === known.indexed || (await indexTree(git, commit));
  return { ...known, head, indexed: isIndexed ? commit : known.indexed };
}

/** The task's branch, or one that the session created. A detached HEAD counts only if the worktree's is too. */
function headToFollow(git: PrivateGit, known: Pick<Known, 'tip' | 'made'>, privateHead: string): string | null {
  const branch = branchOfHead(privateHead);
  if (branch === null) return git.branch === null && isObjectId(privateHead, git.format) ? privateHead : null;
  const isSynced = branch === git.branch ? known.tip !== null : known.made.has(branch);
  return isSynced ? privateHead : null;
}

function commitOfHead(git: PrivateGit, known: Known, head: string): string | null {
  const branch = branchOfHead(head);
  if (branch === null) return isObjectId(head, git.format) ? head : null;
  return branch === git.branch ? known.tip : (known.made.get(branch) ?? null);
}

async function writeHead(git: PrivateGit, wanted: string, real: string): Promise<boolean> {
  const branch = branchOfHead(wanted);
  const args =
    branch === null
      ? ['update-ref', '--no-deref', 'HEAD', wanted, ...(branchOfHead(real) === null ? [real] : [])]
      : ['symbolic-ref', '-m', 'baton: from the sandbox', 'HEAD', HEADS + branch];
  return (await runGit(args, placeOf(git))).ok;
}

/** Keeps the times of entries of unchanged files. */
async function indexTree(git: PrivateGit, commit: string): Promise<boolean> {
  return rewriteIndex(git, async (cwd) => {
    const read = await runGit(['read-tree', '--reset', commit], { cwd });
    if (!read.ok) return false;
    // Exit code 1: some files differ from the commit.
    await runGit(['update-index', '-q', '--ignore-submodules', '--refresh'], { cwd, answers: [1] });
    return true;
  });
}
