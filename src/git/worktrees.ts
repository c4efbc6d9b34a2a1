import { git, type GitResult } from './run-git.ts';

export interface Worktree {
  readonly path: string;
  /** The commit that is checked out; null in a bare repository and before the first commit. */
  readonly head: string | null;
  /** Null where HEAD is detached. */
  readonly branch: string | null;
  readonly isMain: boolean;
  readonly isBare: boolean;
  readonly isLocked: boolean;
  /** Its folder is gone: git would forget it at the next `git worktree prune`. */
  readonly isMissing: boolean;
}

/** All worktrees of a repository, the main one first. */
export async function listWorktrees(repository: string): Promise<GitResult<Worktree[]>> {
  const list = await git(['worktree', 'list', '--porcelain', '-z'], { cwd: repository });
  if (!list.ok) return list;
  const blocks = list.value.stdout.split('\0\0').filter((block) => block !== '');
  return { ok: true, value: blocks.map((block, index) => worktreeOf(block, index === 0)) };
}

/** The worktree that has a branch checked out. */
export async function findWorktree(repository: string, branch: string): Promise<GitResult<Worktree | null>> {
  const all = await listWorktrees(repository);
  return all.ok ? { ok: true, value: all.value.find((worktree) => worktree.branch === branch) ?? null } : all;
}

function worktreeOf(block: string, isMain: boolean): Worktree {
  const fields = new Map(
    block.split('\0').map((line): [string, string] => {
      const space = line.indexOf(' ');
      return space === -1 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)];
    }),
  );
  const head = fields.get('HEAD') ?? '';
  return {
    path: fields.get('worktree') ?? '',
    head: /^0*$/.test(head) ? null : head,
    branch: fields.get('branch')?.replace(/^refs\/heads\//, '') ?? null,
    isMain,
    isBare: fields.has('bare'),
    isLocked: fields.has('locked'),
    isMissing: fields.has('prunable'),
  };
}
