import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lookPlainly, type PlainView } from '../plain-view.ts';
import { git, gitLines, gitText, type GitResult } from '../run-git.ts';
import { findDependencyFile } from './dependency-files.ts';
import { findNewDependencies, type ChangedText, type DependencyFindings } from './find-new-dependencies.ts';

/** What a session has really done in its worktree, whatever it says about itself. */
export interface Measured {
  /** Where it began, and where it stands. */
  readonly base: string;
  readonly head: string;
  /** Everything that differs from the base: committed, staged, changed or new. What the base ignores is not looked at. */
  readonly files: readonly MeasuredFile[];
  /** Commits on top of the base. */
  readonly commits: number;
  readonly dependencies: DependencyFindings;
}

export interface MeasuredFile {
  readonly path: string;
  readonly action: 'created' | 'modified' | 'deleted';
}

/** Measures a worktree against the commit that the session began at. It only reads, and nothing in the worktree hides anything from it. */
export async function measureChange(worktree: string, base: string, stateDir: string): Promise<GitResult<Measured>> {
  const head = await gitText(['rev-parse', '--verify', 'HEAD^{commit}'], { cwd: worktree });
  if (!head.ok) return head;
  const files = await lookPlainly(worktree, { stateDir, rulesAt: base }, async (view) => readFiles(view, base));
  if (!files.ok) return files;
  const commits = await gitText(['rev-list', '--count', `${base}..HEAD`, '--'], { cwd: worktree });
  if (!commits.ok) return commits;
  const texts = await readDependencyTexts(worktree, base, files.value);
  if (!texts.ok) return texts;
  const dependencies = findNewDependencies(texts.value);
  return {
    ok: true,
    value: { base, head: head.value, files: files.value, commits: Number(commits.value), dependencies },
  };
}

/** The worktree against the base: what is not committed counts as well. So does what is only staged, or only in a commit: it can be merged. */
async function readFiles(view: PlainView, base: string): Promise<GitResult<MeasuredFile[]>> {
  const options = ['--name-status', '-z', '--no-renames', '--no-ext-diff', '--ignore-submodules=none'];
  const files = new Map<string, MeasuredFile['action']>();
  for (const compared of [['HEAD'], ['--cached'], []]) {
    const words = await view.list('diff', ...options, base, ...compared, '--');
    if (!words.ok) return words;
    for (let i = 0; i + 1 < words.value.length; i += 2)
      files.set(words.value[i + 1] ?? '', ACTIONS[words.value[i] ?? ''] ?? 'modified');
  }
  const untracked = await view.untracked();
  if (!untracked.ok) return untracked;
  for (const path of untracked.value) {
    // Deleted in the index and there again: the file is as new as it looks to git, and yet only modified.
    files.set(path, files.get(path) === 'deleted' ? 'modified' : 'created');
  }
  return { ok: true, value: [...files].map(([path, action]) => ({ path, action })) };
}

const ACTIONS: Readonly<Record<string, MeasuredFile['action']>> = { A: 'created', D: 'deleted' };

/** All that named dependencies at the base, and what names them now: only then is it known which are new. */
async function readDependencyTexts(
  worktree: string,
  base: string,
  files: readonly MeasuredFile[],
): Promise<GitResult<ChangedText[]>> {
  const changed = new Map(files.filter(({ path }) => findDependencyFile(path)).map((file) => [file.path, file]));
  if (changed.size === 0) return { ok: true, value: [] };
  const tree = await gitLines(['ls-tree', '-r', '--name-only', base], { cwd: worktree });
  if (!tree.ok) return tree;
  const before = tree.value.filter((path) => findDependencyFile(path)).slice(0, MOST_FILES);
  const texts = new Map<string, string>();
  for (const path of before) {
    const text = await git(['cat-file', 'blob', `${base}:${path}`], { cwd: worktree, maxBytes: MOST_BYTES });
    if (text.ok) texts.set(path, text.value.stdout);
  }
  const paths = new Set([...before, ...changed.keys()]);
  const value = await Promise.all(
    [...paths].map(async (path): Promise<ChangedText> => {
      const isChanged = changed.has(path);
      const now = isChanged ? await readNow(join(worktree, path)) : undefined;
      return { path, before: texts.get(path), after: now };
    }),
  );
  return { ok: true, value };
}

const MOST_FILES = 500;
const MOST_BYTES = 64 * 1024 * 1024;

async function readNow(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
