import { lstat, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { conversionSettings, readOperatorConfig } from '../config.ts';
import { withInspectionFolder } from '../own/inspection-folder.ts';
import type { OwnRepository } from '../own/own-repository.ts';
import { git, gitFailure, type GitResult, gitText, type OwnGitFolder } from '../run-git.ts';
import { joinIgnoreRules, literalPattern, readIgnoreFiles, SESSION_FOLDER, WORKTREES_FOLDER } from './ignore-rules.ts';
import { readOrigin, type WorktreeOrigin } from './origin.ts';

/** A worktree as it is, whatever the agent that works there has configured git not to look at. */
export interface UnhiddenFiles {
  /** What a command of git lists with `-z`. */
  list(...args: readonly string[]): Promise<GitResult<string[]>>;
  /** Files that git does not have and that were not to be ignored to begin with; those in repositories inside of it one by one. */
  untracked(): Promise<GitResult<string[]>>;
  /** Paths of submodules. */
  readonly submodules: readonly string[];
}

export interface UnhiddenFilesOptions {
  readonly stateDir: string;
  /** The commit whose `.gitignore` files count; null if there is none. */
  readonly rulesAt: string | null;
  /** Baton's own repository: commits are read from there. Without one, from the worktree's. */
  readonly own?: OwnRepository;
}

/**
 * Looks at a worktree past everything in it that hides files from git: rules in `.git/info/exclude`, in new `.gitignore` files and in files
 * that its configuration names; marks in its index (assume-unchanged, skip-worktree); settings that make git trust less than it could see;
 * another folder as its work tree. None of its configuration is read, so none of its filters, monitors or hooks runs; filters of the
 * operator's own configuration do. It only reads: the index is looked at in a copy.
 */
export async function withUnhiddenFiles<T>(
  worktree: string,
  { stateDir, rulesAt, own }: UnhiddenFilesOptions,
  look: (view: UnhiddenFiles) => Promise<GitResult<T>>,
): Promise<GitResult<T>> {
  const asked = ['rev-parse', '--path-format=absolute', '--show-object-format', '--git-common-dir', '--git-dir'];
  const found = await gitText(asked, { cwd: worktree });
  if (!found.ok) return found;
  const [format, commonDir, gitDir] = found.value.split('\n');
  if (commonDir === undefined || gitDir === undefined || (format !== 'sha1' && format !== 'sha256'))
    return gitFailure('git/odd-path', `'${worktree}' has an odd git folder`, 'Check its .git file.');
  const origin = readOrigin(stateDir, gitDir);
  const rules = rulesAt === null ? { ok: true as const, value: [] } : await readIgnoreFiles(own ?? worktree, rulesAt);
  if (!rules.ok) return rules;
  const settings = [...SAFE_SETTINGS, ...conversionSettings(await readOperatorConfig(), 'all'), ...origin.settings];
  const objects = [...(own === undefined ? [] : [own.objects]), join(commonDir, 'objects')];
  return withInspectionFolder({ stateDir, gitDir, worktree, format, objects, index: 'copy' }, async (place) => {
    const hidden = join(place.gitDir, 'hidden');
    const own = [`/${WORKTREES_FOLDER}/`, `/${SESSION_FOLDER}/`, ...Object.keys(origin.copied), ...origin.linked];
    const last = own.map((path, i) => (i < 2 ? path : literalPattern(path))).join('\n');
    await writeFile(hidden, joinIgnoreRules([origin.excludes], rules.value) + joinIgnoreRules([last], []));
    const run = async (args: readonly string[], input?: string): Promise<GitResult<string[]>> =>
      listOf([...settings, ...args], place, input);
    const cleared = await clearMarks(worktree, origin, run);
    if (!cleared.ok) return cleared;
    return look({
      list: async (...args) => run(args),
      untracked: async () => expand(worktree, await run(['ls-files', '--others', `--exclude-from=${hidden}`, '-z'])),
      submodules: cleared.value,
    });
  });
}

/** Git compares all that it knows of a file before it takes it to be unchanged. */
const SAFE_SETTINGS = [
  'core.trustctime=true',
  'core.checkStat=default',
  'core.ignoreStat=false',
  'core.untrackedCache=false',
].flatMap((setting) => ['-c', setting]);
const MOST_BYTES = 128 * 1024 * 1024;

async function listOf(args: readonly string[], cwd: OwnGitFolder, input?: string): Promise<GitResult<string[]>> {
  const given = input === undefined ? {} : { input };
  const ran = await git(args, { cwd, maxBytes: MOST_BYTES, ...given });
  return ran.ok ? { ok: true, value: ran.value.stdout.split('\0').filter((field) => field !== '') } : ran;
}

/** Clears marks that say not to look, and lists submodules. Only a checkout that was sparse from the beginning may lack files without a word. */
async function clearMarks(
  worktree: string,
  { isSparse }: WorktreeOrigin,
  run: (args: readonly string[], input?: string) => Promise<GitResult<string[]>>,
): Promise<GitResult<readonly string[]>> {
  const tagged = await run(['ls-files', '--stage', '-v', '-z']);
  if (!tagged.ok) return tagged;
  const marked = tagged.value.map((line) => {
    const tab = line.indexOf('\t');
    return { tag: line.charAt(0), isSubmodule: line.startsWith('160000 ', 2), path: line.slice(tab + 1) };
  });
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
  return { ok: true, value: marked.filter(({ isSubmodule }) => isSubmodule).map(({ path }) => path) };
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
