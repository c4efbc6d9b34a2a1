import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { OperatorConfig } from '../config.ts';
import { attempt, git, gitFailure, type GitResult, type OwnGitFolder, unwrap } from '../run-git.ts';

export interface TwoCommits {
  readonly sha: string;
  /** The commit whose `.gitattributes` files apply. */
  readonly base: string;
}

export interface AttributeFile {
  readonly path: string;
  /** The blob in each commit; null if the commit lacks the file. */
  readonly head: IndexBlob | null;
  readonly base: IndexBlob | null;
}

export interface IndexBlob {
  readonly mode: string;
  readonly sha: string;
}

/** Calls `use` with an index of the commit's files, but with the base's `.gitattributes` files. */
export async function withAttributesOf<T>(
  place: OwnGitFolder,
  commits: TwoCommits,
  use: (indexed: OwnGitFolder, differing: readonly AttributeFile[]) => Promise<GitResult<T>>,
): Promise<GitResult<T>> {
  const folder = await mkdtemp(join(place.gitDir, 'attributes-'));
  try {
    const indexed = { ...place, env: { ...place.env, GIT_INDEX_FILE: join(folder, 'index') } };
    const prepared = await attempt(async () => {
      unwrap(await git(['read-tree', commits.sha], { cwd: indexed, timeoutMs: 600_000 }));
      const differing = await findDiffering(place, commits);
      const entries = differing.map(({ path, base, head }) => ({ path, blob: base, instead: head }));
      unwrap(await setIndexEntries(indexed, entries));
      return differing;
    });
    return prepared.ok ? await use(indexed, prepared.value) : prepared;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function setIndexEntries(
  indexed: OwnGitFolder,
  entries: readonly { readonly path: string; readonly blob: IndexBlob | null; readonly instead: IndexBlob | null }[],
): Promise<GitResult<null>> {
  if (entries.length === 0) return { ok: true, value: null };
  const lines = entries.map(({ path, blob, instead }) =>
    // The zero object id is as long as the repository's other ids.
    blob === null ? `0 ${'0'.repeat(instead?.sha.length ?? 40)}\t${path}\0` : `${blob.mode} ${blob.sha}\t${path}\0`,
  );
  const set = await git(['update-index', '-z', '--index-info'], { cwd: indexed, input: lines.join('') });
  return set.ok ? { ok: true, value: null } : set;
}

/** Skips files of the base in folders that the commit lacks, because they apply to no file. */
async function findDiffering(place: OwnGitFolder, { sha, base }: TwoCommits): Promise<readonly AttributeFile[]> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--no-commit-id', sha, base, '--', ATTRIBUTE_FILES];
  const fields = unwrap(await git(args, { cwd: place })).stdout.split('\0');
  const files: AttributeFile[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [headMode = '', baseMode = '', head = '', inBase = ''] = (fields[i] ?? '').slice(1).split(' ');
    const path = fields[i + 1] ?? '';
    if (path.includes('\uFFFD')) oddName(path);
    const file = { path, head: blobOf(headMode, head), base: blobOf(baseMode, inBase) };
    if (file.head !== null || (await isFolder(place, sha, path))) files.push(file);
  }
  return files;
}

const ATTRIBUTE_FILES = ':(glob)**/.gitattributes';

/** A path that cannot be named cannot be removed from the index, so its attributes would apply. */
function oddName(path: string): never {
  const hint = 'Rename the folder, or remove its .gitattributes file.';
  return unwrap(gitFailure('git/odd-path', `the name of '${path}' is not UTF-8 text`, hint));
}

function blobOf(mode: string, sha: string): IndexBlob | null {
  return mode === '000000' ? null : { mode, sha };
}

async function isFolder(place: OwnGitFolder, sha: string, path: string): Promise<boolean> {
  const end = path.lastIndexOf('/');
  if (end === -1) return true;
  const type = await git(['cat-file', '-t', `${sha}:${path.slice(0, end)}`], { cwd: place, answers: [128] });
  return type.ok && type.value.stdout === 'tree\n';
}

/**
 * Refuses a commit whose files need a filter that no operator allowed or configured. Without the filter a file has
 * other bytes than the ones people work with, and a check of it proves nothing.
 */
export async function findForeignFilter(
  indexed: OwnGitFolder,
  filters: readonly string[],
  config: OperatorConfig,
): Promise<GitResult<null>> {
  // Only repositories with filters pay for a query of every path.
  const search = ['grep', '--cached', '-l', '-a', '-F', '-e', 'filter', '--', ATTRIBUTE_FILES];
  const named = await git(search, { cwd: indexed, answers: [1] });
  if (!named.ok) return named;
  if (named.value.code === 1) return { ok: true, value: null };
  const paths = await git(['ls-files', '-z'], { cwd: indexed, maxBytes: MOST_BYTES });
  if (!paths.ok) return paths;
  const args = ['check-attr', '--cached', '-z', '--stdin', 'filter'];
  const answers = await git(args, { cwd: indexed, input: paths.value.stdout, maxBytes: MOST_BYTES });
  return answers.ok ? judge(filtersIn(answers.value.stdout), filters, config) : answers;
}

const MOST_BYTES = 1024 * 1024 * 1024;

/** Paths by filter. Git prints path, attribute and value, each followed by NUL. */
function filtersIn(printed: string): ReadonlyMap<string, readonly string[]> {
  const fields = printed.split('\0');
  const found = new Map<string, string[]>();
  for (let i = 0; i + 2 < fields.length; i += 3) {
    const [path = '', , filter = ''] = fields.slice(i, i + 3);
    // A filter without a name runs no program.
    if (['unspecified', 'unset', 'set', ''].includes(filter)) continue;
    const paths = found.get(filter);
    if (paths === undefined) found.set(filter, [path]);
    else paths.push(path);
  }
  return found;
}

function judge(
  needed: ReadonlyMap<string, readonly string[]>,
  allowed: readonly string[],
  config: OperatorConfig,
): GitResult<null> {
  for (const [filter, [path = '', ...more]] of needed) {
    const which = more.length === 0 ? `'${path}' needs` : `'${path}' and ${more.length} more need`;
    if (!allowed.includes(filter)) {
      const list = [...allowed, filter].map((name) => JSON.stringify(name)).join(', ');
      const hint = `To run its program on every checked commit, write in baton.toml: git = { filters = [${list}] }`;
      return gitFailure('git/filter-not-allowed', `${which} the git filter '${filter}', which is not allowed`, hint);
    }
    if (config.has(`filter.${filter}.process`) || config.has(`filter.${filter}.smudge`)) continue;
    const hint = `Configure the filter, for example: git config --global filter.${filter}.smudge COMMAND`;
    const message = `${which} the git filter '${filter}', which is not in your global git configuration`;
    return gitFailure('git/filter-missing', message, hint);
  }
  return { ok: true, value: null };
}
