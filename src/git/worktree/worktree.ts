import { existsSync, readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { rewriteFile } from '../fence/fence.ts';
import { git, type GitResult } from '../run-git.ts';

export interface Worktree {
  readonly path: string;
  /** The checked-out commit; null in a bare repository and before the first commit. */
  readonly head: string | null;
  /** Null if HEAD is detached; during a rebase, the rebased branch, which git counts as in use. */
  readonly branch: string | null;
  readonly isMain: boolean;
  readonly isBare: boolean;
  readonly isLocked: boolean;
  /** Baton is creating it, or was when its daemon ended. No session has worked there. */
  readonly isBeingMade: boolean;
  /** Its folder is missing; `git worktree prune` would remove the entry. */
  readonly isMissing: boolean;
}

/** The reason of git's lock on an incomplete worktree. Git creates the lock together with the worktree. */
export const CREATION_LOCK_REASON = 'baton: being made';

export async function listWorktrees(repository: string): Promise<GitResult<Worktree[]>> {
  const list = await git(['worktree', 'list', '--porcelain', '-z'], { cwd: repository });
  if (!list.ok) return list;
  const blocks = list.value.stdout.split('\0\0').filter((block) => block !== '');
  const worktrees = blocks.map((block, index) => worktreeOf(block, index === 0));
  return { ok: true, value: await Promise.all(worktrees.map(withRebasedBranch)) };
}

export async function findWorktree(repository: string, branch: string): Promise<GitResult<Worktree | null>> {
  const all = await listWorktrees(repository);
  return all.ok ? { ok: true, value: all.value.find((worktree) => worktree.branch === branch) ?? null } : all;
}

/** Removes the creation lock of a completed worktree. A user's lock stays. */
export async function unlockCompletedWorktree(gitDir: string): Promise<void> {
  const lock = join(gitDir, 'locked');
  if ((await readOrEmpty(lock)).trim() === CREATION_LOCK_REASON) await rm(lock, { force: true });
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
    isBeingMade: fields.get('locked') === CREATION_LOCK_REASON,
    isMissing: fields.has('prunable'),
  };
}

async function withRebasedBranch(worktree: Worktree): Promise<Worktree> {
  if (worktree.branch !== null || worktree.isBare || worktree.isMissing) return worktree;
  const link = await readOrEmpty(join(worktree.path, '.git'));
  const gitDir = resolve(worktree.path, /^gitdir: (.*)\n?$/.exec(link)?.[1] ?? '.git');
  for (const folder of ['rebase-merge', 'rebase-apply']) {
    const [, branch] = /^refs\/heads\/(.+)\n?$/.exec(await readOrEmpty(join(gitDir, folder, 'head-name'))) ?? [];
    if (branch !== undefined) return { ...worktree, branch };
  }
  return worktree;
}

/**
 * Returns the git folder of a worktree below `commonDir`, read from its files. Null if the two do not name each other,
 * because the worktree may then impersonate another one.
 */
export async function readLinkedGitDir({ path }: Pick<Worktree, 'path'>, commonDir: string): Promise<string | null> {
  const link = join(path, '.git');
  const [, named] = /^gitdir: (.+)\n?$/.exec(await readOrEmpty(link)) ?? [];
  const gitDir = resolve(path, named ?? '.');
  if (named === undefined || dirname(gitDir) !== join(commonDir, 'worktrees')) return null;
  return resolve(gitDir, (await readOrEmpty(join(gitDir, 'gitdir'))).trim()) === link ? gitDir : null;
}

async function readOrEmpty(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

/** What Baton put into a worktree, stored in its git folder, where no session works. */
export interface WorktreeNote {
  /** The port that is reserved while the worktree exists. */
  readonly port: number | null;
  readonly copied: Readonly<Record<string, string>>;
  readonly linked: readonly string[];
  /** The setup command that has run. */
  readonly setup: string | null;
}

const EMPTY_WORKTREE_NOTE: WorktreeNote = { port: null, copied: {}, linked: [], setup: null };
const NOTE_FILE = 'baton-workspace.json';

/** A missing or damaged note counts as empty, so every file counts as work. */
export function readWorktreeNote(gitDir: string): WorktreeNote {
  const path = join(gitDir, NOTE_FILE);
  if (!existsSync(path)) return EMPTY_WORKTREE_NOTE;
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof value === 'object' && value !== null ? { ...EMPTY_WORKTREE_NOTE, ...value } : EMPTY_WORKTREE_NOTE;
  } catch {
    return EMPTY_WORKTREE_NOTE;
  }
}

export function writeWorktreeNote(gitDir: string, note: WorktreeNote): void {
  rewriteFile(join(gitDir, NOTE_FILE), `${JSON.stringify(note)}\n`);
}
