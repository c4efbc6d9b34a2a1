import type { OwnRepositoryImporter } from '../own/transfer-commits.ts';
import { findSha } from '../repository.ts';
import { attempt, gitFields, type GitResult, gitText, type OwnGitFolder, unwrap } from '../run-git.ts';
import { type UnhiddenFiles, withUnhiddenFiles } from '../worktree/unhidden-files.ts';
import { findOwnBase } from './own-change.ts';
import { type ChangedManifest, type DependencyFindings, measureDependencies } from './dependencies.ts';

export interface MeasuredChange {
  readonly base: string;
  readonly head: string;
  /** The commit of main that the session brought in, if any; null without a recorded main branch. */
  readonly main: string | null;
  /**
   * All files of the session's own change: committed, staged, changed or new, except files that the base ignores.
   */
  readonly files: readonly MeasuredFile[];
  /** Commits since the base, on HEAD and on the task's branch, without those of main. */
  readonly commits: number;
  readonly dependencies: DependencyFindings;
}

export interface MeasuredFile {
  readonly path: string;
  readonly action: 'created' | 'modified' | 'deleted';
}

export interface MeasureRequest {
  readonly stateDir: string;
  readonly own: Pick<OwnRepositoryImporter, 'with'>;
  readonly base: string;
  /** The head of the task's branch. The next session continues from it, even if this session's HEAD differs. */
  readonly branch?: string;
  /** See `OwnChangeRequest`. */
  readonly main?: string | null | undefined;
}

/**
 * Measures a change. Reads commits in Baton's repository and other files in the worktree, bypassing settings that could
 * hide files. Writes nothing.
 */
export async function measureChange(worktree: string, measuring: MeasureRequest): Promise<GitResult<MeasuredChange>> {
  const { stateDir, base, branch, main = null } = measuring;
  return attempt(async () => {
    const head = unwrap(await gitText(['rev-parse', '--verify', 'HEAD^{commit}'], { cwd: worktree }));
    const onBranch = branch === undefined ? null : await findSha(worktree, `refs/heads/${branch}`);
    const tips = [...new Set([head, onBranch ?? head])];
    const own = unwrap(await measuring.own.with(base, ...tips, ...(main === null ? [] : [main])));
    const compared = unwrap(await findOwnBase(own, { base, tip: head, main }));
    const { from, conflicts } = compared;
    const read = async (view: UnhiddenFiles) => attempt(async () => readFiles(view, own, from, tips));
    const found = unwrap(await withUnhiddenFiles(worktree, { stateDir, rulesAt: from, own }, read));
    const known = [base, ...(compared.main === null ? [] : [compared.main])];
    const commits = unwrap(await gitText(['rev-list', '--count', ...tips, '--not', ...known, '--'], { cwd: own }));
    const dependencies = unwrap(await measureDependencies({ worktree, own }, from, found));
    const paths = new Set(found.map(({ path }) => path));
    const resolved = conflicts
      .filter((path) => !paths.has(path))
      .map((path) => ({ path, action: 'modified' }) as const);
    const files = [...found.map(({ path, action }) => ({ path, action })), ...resolved];
    return { base, head, main: compared.main, files, commits: Number(commits), dependencies };
  });
}

/** Compares the worktree with the base. Files that are only staged or committed also count: they can be merged. */
async function readFiles(
  view: UnhiddenFiles,
  own: OwnGitFolder,
  base: string,
  tips: readonly string[],
): Promise<(MeasuredFile & ChangedManifest)[]> {
  const options = ['--raw', '--no-abbrev', '-z', '--no-renames', '--no-ext-diff'];
  const files = new Map<string, { action: MeasuredFile['action']; blobs: Set<string> }>();
  const listings = [
    ...tips.filter((tip) => tip !== base).map((tip) => ['diff-tree', '-r', ...options, base, tip, '--']),
    ['diff', ...options, '--cached', base, '--'],
    // Does not enter submodules, because git would run there with their configuration.
    ['diff', ...options, '--ignore-submodules=dirty', base, '--'],
  ];
  for (const args of listings) {
    const inOwn = args[0] === 'diff-tree';
    const words = unwrap(
      await (inOwn ? gitFields(args, { cwd: own, maxBytes: 128 * 1024 * 1024 }) : view.list(...args)),
    );
    for (let i = 0; i + 1 < words.length; i += 2) {
      const path = words[i + 1] ?? '';
      const [, mode = '', , sha = '', status = ''] = (words[i] ?? '').split(' ');
      const blobs = files.get(path)?.blobs ?? new Set();
      // Links and submodules have no text; files only in the worktree have no object id.
      if (mode.startsWith('100') && !/^0+$/.test(sha)) blobs.add(sha);
      files.set(path, { action: ACTIONS[status] ?? 'modified', blobs });
    }
  }
  for (const path of unwrap(await view.untracked())) {
    const { action, blobs = new Set<string>() } = files.get(path) ?? {};
    // A file deleted in the index but present in the worktree is modified, not new.
    files.set(path, { action: action === 'deleted' ? 'modified' : 'created', blobs });
  }
  return [...files].map(([path, file]) => ({ path, ...file }));
}

const ACTIONS: Readonly<Record<string, MeasuredFile['action']>> = { A: 'created', D: 'deleted' };
