import { lookPlainly, type PlainView } from '../plain-view.ts';
import { findSha } from '../repository.ts';
import { gitText, type GitResult } from '../run-git.ts';
import type { DependencyFindings } from './find-new-dependencies.ts';
import { measureDependencies, type ChangedFile } from './measure-dependencies.ts';

/** What a session has really done in its worktree, whatever it says about itself. */
export interface Measured {
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

export interface Measuring {
  readonly stateDir: string;
  /** The commit that the session began at. */
  readonly base: string;
  /** The branch of its task: whoever comes next goes on from there, wherever this session has left its HEAD. */
  readonly branch?: string;
}

/** Measures a worktree against the commit that the session began at. It only reads, and nothing in the worktree hides anything from it. */
export async function measureChange(
  worktree: string,
  { stateDir, base, branch }: Measuring,
): Promise<GitResult<Measured>> {
  const head = await gitText(['rev-parse', '--verify', 'HEAD^{commit}'], { cwd: worktree });
  if (!head.ok) return head;
  const onBranch = branch === undefined ? null : await findSha(worktree, `refs/heads/${branch}`);
  const tips = [...new Set([head.value, onBranch ?? head.value])];
  const found = await lookPlainly(worktree, { stateDir, rulesAt: base }, async (view) => readFiles(view, base, tips));
  if (!found.ok) return found;
  const commits = await gitText(['rev-list', '--count', ...tips, '--not', base, '--'], { cwd: worktree });
  if (!commits.ok) return commits;
  const dependencies = await measureDependencies(worktree, base, found.value);
  if (!dependencies.ok) return dependencies;
  const files = found.value.map(({ path, action }) => ({ path, action }));
  return {
    ok: true,
    value: { base, head: head.value, files, commits: Number(commits.value), dependencies: dependencies.value },
  };
}

/** The worktree against the base: what is not committed counts as well. So does what is only staged, or only in a commit: it can be merged. */
async function readFiles(
  view: PlainView,
  base: string,
  tips: readonly string[],
): Promise<GitResult<(MeasuredFile & ChangedFile)[]>> {
  const options = ['--raw', '--no-abbrev', '-z', '--no-renames', '--no-ext-diff', '--ignore-submodules=none'];
  const files = new Map<string, { action: MeasuredFile['action']; blobs: Set<string> }>();
  for (const compared of [...tips.map((tip) => [tip]), ['--cached'], []]) {
    const words = await view.list('diff', ...options, base, ...compared, '--');
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

const ACTIONS: Readonly<Record<string, MeasuredFile['action']>> = { A: 'created', D: 'deleted' };
