import { copyFile, lstat, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SESSION_FOLDER, WORKTREES } from './hide-worktrees.ts';
import { joinRules, literalPattern, readRulesAt } from './ignore-rules.ts';
import { git, gitText, type GitResult } from './run-git.ts';
import { readOrigin, type WorktreeOrigin } from './worktree-origin.ts';

/** A worktree as it is, whatever whoever works there has told git not to look at. */
export interface PlainView {
  /** What a command of git lists with `-z`. */
  list(...args: readonly string[]): Promise<GitResult<string[]>>;
  /** Files that git does not have and that were not to be ignored to begin with; those in repositories inside of it one by one. */
  untracked(): Promise<GitResult<string[]>>;
}

export interface Looking {
  readonly stateDir: string;
  /** The commit whose `.gitignore` files count; null where there is none. */
  readonly rulesAt: string | null;
}

/**
 * Looks at a worktree past everything in it that hides files from git: rules in `.git/info/exclude`, in new `.gitignore` files and in files
 * that its configuration names; marks in its index (assume-unchanged, skip-worktree); settings that make git trust less than it could see;
 * another folder as its work tree. It only reads: the index is looked at in a copy.
 */
export async function lookPlainly<T>(
  worktree: string,
  { stateDir, rulesAt }: Looking,
  look: (view: PlainView) => Promise<GitResult<T>>,
): Promise<GitResult<T>> {
  const gitDir = await gitText(['rev-parse', '--absolute-git-dir'], { cwd: worktree });
  if (!gitDir.ok) return gitDir;
  const origin = readOrigin(stateDir, gitDir.value);
  const rules = rulesAt === null ? { ok: true as const, value: [] } : await readRulesAt(worktree, rulesAt);
  if (!rules.ok) return rules;
  const own = [`/${WORKTREES}/`, `/${SESSION_FOLDER}/`, ...Object.keys(origin.copied), ...origin.linked];
  const folder = await mkdtemp(join(tmpdir(), 'baton-look-'));
  try {
    const hidden = join(folder, 'hidden');
    const last = own.map((path, i) => (i < 2 ? path : literalPattern(path))).join('\n');
    await writeFile(hidden, joinRules([origin.excludes], rules.value) + joinRules([last], []));
    const index = join(folder, 'index');
    await copyIndex(join(gitDir.value, 'index'), index);
    const env = { GIT_DIR: gitDir.value, GIT_WORK_TREE: worktree, GIT_INDEX_FILE: index };
    const run = async (args: readonly string[], input?: string): Promise<GitResult<string[]>> =>
      listOf(args, worktree, env, input);
    const cleared = await clearMarks(worktree, origin, run);
    if (!cleared.ok) return cleared;
    return await look({
      list: async (...args) => run(args),
      untracked: async () => expand(worktree, await run(['ls-files', '--others', `--exclude-from=${hidden}`, '-z'])),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * With the time of the original: git looks closer at files that were changed in the second in which the index was written, and an index
 * that seems newer than it is would be believed.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const before = await stat(from).catch(() => null);
  if (before === null) return;
  await copyFile(from, to);
  await utimes(to, Math.floor(before.mtimeMs / 1000), Math.floor(before.mtimeMs / 1000));
}

/** Git compares all that it knows of a file before it takes it to be unchanged. */
const CAREFULLY = [
  'core.trustctime=true',
  'core.checkStat=default',
  'core.ignoreStat=false',
  'core.untrackedCache=false',
];
const MOST_BYTES = 128 * 1024 * 1024;

async function listOf(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  input?: string,
): Promise<GitResult<string[]>> {
  const careful = CAREFULLY.flatMap((setting) => ['-c', setting]);
  const given = input === undefined ? {} : { input };
  const ran = await git([...careful, ...args], { cwd, env, maxBytes: MOST_BYTES, ...given });
  return ran.ok ? { ok: true, value: ran.value.stdout.split('\0').filter((field) => field !== '') } : ran;
}

/** Marks that say not to look. Only a checkout that was sparse from the beginning may lack files without a word. */
async function clearMarks(
  worktree: string,
  { isSparse }: WorktreeOrigin,
  run: (args: readonly string[], input?: string) => Promise<GitResult<string[]>>,
): Promise<GitResult<null>> {
  const tagged = await run(['ls-files', '-v', '-z']);
  if (!tagged.ok) return tagged;
  const marked = tagged.value.map((line) => ({ tag: line.charAt(0), path: line.slice(2) }));
  const assumed = marked.filter(({ tag }) => /[a-z]/.test(tag));
  const skipped: typeof marked = [];
  for (const each of marked) {
    if (/[Ss]/.test(each.tag) && (!isSparse || (await isThere(join(worktree, each.path))))) skipped.push(each);
  }
  for (const [flag, files] of [['--no-assume-unchanged', assumed] as const, ['--no-skip-worktree', skipped] as const]) {
    if (files.length === 0) continue;
    const cleared = await run(['update-index', flag, '-z', '--stdin'], files.map(({ path }) => `${path}\0`).join(''));
    if (!cleared.ok) return cleared;
  }
  return { ok: true, value: null };
}

/** A repository inside of the worktree is one path to git, however much is in it. */
async function expand(worktree: string, found: GitResult<string[]>): Promise<GitResult<string[]>> {
  if (!found.ok) return found;
  const paths: string[] = [];
  for (const path of found.value) {
    if (!path.endsWith('/')) paths.push(path);
    else {
      const inside = await readdir(join(worktree, path), { recursive: true, withFileTypes: true });
      const files = inside.filter((each) => !each.isDirectory());
      const names = files.map(({ parentPath, name }) => join(parentPath, name).slice(join(worktree, '/').length));
      const own = names.filter((name) => !/(?:^|\/)\.git(?:\/|$)/.test(name.slice(path.length)));
      paths.push(...(own.length === 0 ? [path] : own));
    }
  }
  return { ok: true, value: paths };
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
