import type { OwnRepositoryImporter } from '../own/transfer-commits.ts';
import { findSha } from '../repository.ts';
import { git, type GitResult, gitText, type OwnGitFolder } from '../run-git.ts';
import { type UnhiddenFiles, withUnhiddenFiles } from '../worktree/unhidden-files.ts';
import { type ChangedManifest, type DependencyFindings, measureDependencies } from './dependencies.ts';

/** What a session has really done in its worktree, whatever it says about itself. */
export interface MeasuredChange {
  /** Where it began, and where it stands. */
  readonly base: string;
  readonly head: string;
  /** Everything that differs from the base: committed, staged, changed or new. What the base ignores is not looked at. */
  readonly files: readonly MeasuredFile[];
  /** Commits on top of the base, where it stands and on the branch of its task. */
  readonly commits: number;
  readonly dependencies: DependencyFindings;
}

export interface MeasuredFile {
  readonly path: string;
  readonly action: 'created' | 'modified' | 'deleted';
}

export interface MeasureRequest {
  readonly stateDir: string;
  /** Baton's own copy of the commits. */
  readonly own: Pick<OwnRepositoryImporter, 'with'>;
  /** The commit that the session began at. */
  readonly base: string;
  /** The branch of its task: whoever comes next goes on from there, wherever this session has left its HEAD. */
  readonly branch?: string;
}

/**
 * Measures a worktree against the commit that the session began at. Commits are read from Baton's own repository, after they were copied
 * there; files that are not committed are read from the worktree. It only reads, and nothing in the worktree hides anything from it.
 */
export async function measureChange(worktree: string, measuring: MeasureRequest): Promise<GitResult<MeasuredChange>> {
  const { stateDir, base, branch } = measuring;
  const head = await gitText(['rev-parse', '--verify', 'HEAD^{commit}'], { cwd: worktree });
  if (!head.ok) return head;
  const onBranch = branch === undefined ? null : await findSha(worktree, `refs/heads/${branch}`);
  const tips = [...new Set([head.value, onBranch ?? head.value])];
  const copied = await measuring.own.with(base, ...tips);
  if (!copied.ok) return copied;
  const own = copied.value;
  const found = await withUnhiddenFiles(worktree, { stateDir, rulesAt: base, own }, async (view) =>
    readFiles(view, own, base, tips),
  );
  if (!found.ok) return found;
  const commits = await gitText(['rev-list', '--count', ...tips, '--not', base, '--'], { cwd: own });
  if (!commits.ok) return commits;
  const dependencies = await measureDependencies({ worktree, own }, base, found.value);
  if (!dependencies.ok) return dependencies;
  const files = found.value.map(({ path, action }) => ({ path, action }));
  return {
    ok: true,
    value: { base, head: head.value, files, commits: Number(commits.value), dependencies: dependencies.value },
  };
}

/** The worktree against the base: what is not committed counts as well. So does what is only staged, or only in a commit: it can be merged. */
async function readFiles(
  view: UnhiddenFiles,
  own: OwnGitFolder,
  base: string,
  tips: readonly string[],
): Promise<GitResult<(MeasuredFile & ChangedManifest)[]>> {
  const options = ['--raw', '--no-abbrev', '-z', '--no-renames', '--no-ext-diff'];
  const files = new Map<string, { action: MeasuredFile['action']; blobs: Set<string> }>();
  const looks = [
    ...tips
      .filter((tip) => tip !== base)
      .map((tip) => async () => listIn(own, ['diff-tree', '-r', ...options, base, tip, '--'])),
    async () => view.list('diff', ...options, '--cached', base, '--'),
    // Not into submodules: git would run there with their configuration.
    async () => view.list('diff', ...options, '--ignore-submodules=dirty', base, '--'),
  ];
  for (const look of looks) {
    const words = await look();
    if (!words.ok) return words;
    for (let i = 0; i + 1 < words.value.length; i += 2) {
      const path = words.value[i + 1] ?? '';
      const [, mode = '', , sha = '', status = ''] = (words.value[i] ?? '').split(' ');
      const blobs = files.get(path)?.blobs ?? new Set();
      // Links and other repositories have no text of their own; what is only in the worktree has no name yet.
      if (mode.startsWith('100') && !/^0+$/.test(sha)) blobs.add(sha);
      files.set(path, { action: ACTIONS[status] ?? 'modified', blobs });
    }
  }
  const untracked = await view.untracked();
  if (!untracked.ok) return untracked;
  for (const path of untracked.value) {
    const known = files.get(path);
    // Deleted in the index and there again: the file is as new as it looks to git, and yet only modified.
    files.set(path, {
      action: known?.action === 'deleted' ? 'modified' : 'created',
      blobs: known?.blobs ?? new Set(),
    });
  }
  return { ok: true, value: [...files].map(([path, file]) => ({ path, ...file })) };
}

async function listIn(cwd: OwnGitFolder, args: readonly string[]): Promise<GitResult<string[]>> {
  const listed = await git(args, { cwd, maxBytes: MOST_BYTES });
  return listed.ok ? { ok: true, value: listed.value.stdout.split('\0').filter((field) => field !== '') } : listed;
}

const MOST_BYTES = 128 * 1024 * 1024;

const ACTIONS: Readonly<Record<string, MeasuredFile['action']>> = { A: 'created', D: 'deleted' };
