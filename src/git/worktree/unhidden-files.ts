import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { conversionSettings, readOperatorConfig } from '../config.ts';
import { withInspectionFolder } from '../own/inspection-folder.ts';
import type { ObjectFormat, OwnRepository } from '../own/own-repository.ts';
import { attempt, gitFailure, gitFields, type GitResult, gitText, unwrap } from '../run-git.ts';
import {
  type IgnoreFile,
  joinIgnoreRules,
  literalPattern,
  readIgnoreFiles,
  SESSION_FOLDER,
  WORKTREES_FOLDER,
} from './ignore-rules.ts';
import { readOrigin, type WorktreeOrigin } from './origin.ts';
import { pathExists } from './read-inside.ts';

/** A worktree with all its files, independent of git settings made by its agent. */
export interface UnhiddenFiles {
  /** The output of a git command with `-z`. */
  list(...args: readonly string[]): Promise<GitResult<string[]>>;
  /** Files unknown to git and not ignored at the start, including files in nested repositories. */
  untracked(): Promise<GitResult<string[]>>;
  readonly submodules: readonly string[];
}

export interface UnhiddenFilesOptions {
  readonly stateDir: string;
  /** The commit whose `.gitignore` files apply; null if there is none. */
  readonly rulesAt: string | null;
  /** Baton's repository to read commits from. Defaults to the worktree's repository. */
  readonly own?: OwnRepository;
  /** Facts about the worktree that the caller has already read. */
  readonly known?: KnownPlace & { readonly ignoreFiles: readonly IgnoreFile[] };
}

interface KnownPlace {
  readonly format: ObjectFormat;
  readonly commonDir: string;
  readonly gitDir: string;
}

/**
 * Inspects a worktree past everything that hides files from git: rules in `.git/info/exclude`, new `.gitignore` files
 * and configured files; index flags (assume-unchanged, skip-worktree); relaxed stat settings; another work tree. Reads
 * none of its configuration, so its filters, monitors and hooks do not run; the operator's filters do. Writes nothing,
 * and uses a copy of the index.
 */
export async function withUnhiddenFiles<T>(
  worktree: string,
  { stateDir, rulesAt, own, known }: UnhiddenFilesOptions,
  use: (view: UnhiddenFiles) => Promise<GitResult<T>>,
): Promise<GitResult<T>> {
  const found = known === undefined ? await readPlace(worktree) : { ok: true as const, value: known };
  if (!found.ok) return found;
  const { format, commonDir, gitDir } = found.value;
  const origin = readOrigin(stateDir, gitDir);
  const rules =
    known === undefined
      ? await readIgnoreFiles(own ?? worktree, rulesAt)
      : { ok: true as const, value: known.ignoreFiles };
  if (!rules.ok) return rules;
  const settings = [...SAFE_SETTINGS, ...conversionSettings(await readOperatorConfig(), 'all'), ...origin.settings];
  const objects = [...(own === undefined ? [] : [own.objects]), join(commonDir, 'objects')];
  return withInspectionFolder({ stateDir, gitDir, worktree, format, objects, index: 'copy' }, async (place) => {
    const hidden = join(place.gitDir, 'hidden');
    const own = [`/${WORKTREES_FOLDER}/`, `/${SESSION_FOLDER}/`, ...Object.keys(origin.copied), ...origin.linked];
    const last = own.map((path, i) => (i < 2 ? path : literalPattern(path))).join('\n');
    await writeFile(hidden, joinIgnoreRules([origin.excludes], rules.value) + joinIgnoreRules([last], []));
    const run: Run = async (args, input = '') =>
      gitFields([...settings, ...args], { cwd: place, maxBytes: MOST_BYTES, input });
    const listed = await listFiles(hidden, run);
    if (!listed.ok) return listed;
    const { tracked, untracked } = listed.value;
    const cleared = await attempt(async () => clearMarks(worktree, origin, { tracked, run }));
    if (!cleared.ok) return cleared;
    return use({
      list: async (...args) => run(args),
      untracked: async () => attempt(async () => expand(worktree, untracked)),
      submodules: tracked.filter(({ isSubmodule }) => isSubmodule).map(({ path }) => path),
    });
  });
}

async function readPlace(worktree: string): Promise<GitResult<KnownPlace>> {
  const command = ['rev-parse', '--path-format=absolute', '--show-object-format', '--git-common-dir', '--git-dir'];
  const found = await gitText(command, { cwd: worktree });
  if (!found.ok) return found;
  const [format, commonDir, gitDir] = found.value.split('\n');
  if (commonDir === undefined || gitDir === undefined || (format !== 'sha1' && format !== 'sha256'))
    return gitFailure('git/odd-path', `'${worktree}' has an invalid git folder`, 'Check its .git file.');
  return { ok: true, value: { format, commonDir, gitDir } };
}

type Run = (args: readonly string[], input?: string) => Promise<GitResult<string[]>>;

/** Makes git compare everything that it knows about a file before the file counts as unchanged. */
const SAFE_SETTINGS = [
  'core.trustctime=true',
  'core.checkStat=default',
  'core.ignoreStat=false',
  'core.untrackedCache=false',
].flatMap((setting) => ['-c', setting]);

interface TrackedFile {
  /** As `git ls-files -v` shows it. */
  readonly tag: string;
  readonly isSubmodule: boolean;
  readonly path: string;
}

/** Tracked and untracked files in one listing: starting git takes longer than reading the files. */
async function listFiles(
  hidden: string,
  run: Run,
): Promise<GitResult<{ readonly tracked: readonly TrackedFile[]; readonly untracked: readonly string[] }>> {
  const lines = await run(['ls-files', '--cached', '--others', `--exclude-from=${hidden}`, '--stage', '-v', '-z']);
  if (!lines.ok) return lines;
  const [tracked, untracked]: [TrackedFile[], string[]] = [[], []];
  for (const line of lines.value) {
    const tag = line.charAt(0);
    if (tag === '?') untracked.push(line.slice(2));
    else tracked.push({ tag, isSubmodule: line.startsWith('160000 ', 2), path: line.slice(line.indexOf('\t') + 1) });
  }
  return { ok: true, value: { tracked, untracked } };
}

/** Clears index flags that hide files. Only an originally sparse checkout may lack files. */
async function clearMarks(
  worktree: string,
  { isSparse }: WorktreeOrigin,
  { tracked, run }: { readonly tracked: readonly TrackedFile[]; readonly run: Run },
): Promise<void> {
  const assumed = tracked.filter(({ tag }) => /[a-z]/.test(tag));
  const skipped: TrackedFile[] = [];
  for (const each of tracked) {
    if (/[Ss]/.test(each.tag) && (!isSparse || (await pathExists(join(worktree, each.path))))) skipped.push(each);
  }
  for (const [flag, files] of [['--no-assume-unchanged', assumed] as const, ['--no-skip-worktree', skipped] as const]) {
    if (files.length === 0) continue;
    unwrap(await run(['update-index', flag, '-z', '--stdin'], files.map(({ path }) => `${path}\0`).join('')));
  }
}

/** Git lists a nested repository as one path. This lists its files. */
async function expand(worktree: string, found: readonly string[]): Promise<string[]> {
  const paths: string[] = [];
  for (const path of found) {
    if (!path.endsWith('/')) paths.push(path);
    else {
      const inside = await readdir(join(worktree, path), { recursive: true, withFileTypes: true });
      const files = inside.filter((each) => !each.isDirectory());
      const names = files.map(({ parentPath, name }) => join(parentPath, name).slice(join(worktree, '/').length));
      const own = names.filter((name) => !/(?:^|\/)\.git(?:\/|$)/.test(name.slice(path.length)));
      paths.push(...(own.length === 0 ? [path] : own));
    }
  }
  return paths;
}

const MOST_BYTES = 128 * 1024 * 1024;
