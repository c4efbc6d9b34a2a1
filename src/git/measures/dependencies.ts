import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { git, type GitResult, type OwnGitFolder, type GitLocation } from '../run-git.ts';
import { findDependencyFile } from './dependency-files.ts';
import { findNewDependencies, type ChangedText, type DependencyFindings } from './find-new-dependencies.ts';

/** A file that differs, and what git has of it now: in a commit, in the index, both or neither. */
export interface ChangedManifest {
  readonly path: string;
  readonly blobs: ReadonlySet<string>;
}

export interface DependencySources {
  readonly worktree: string;
  /** Baton's own repository, which has the commits. */
  readonly own: OwnGitFolder;
}

/** What the changed manifests and lock files bring in, in any state that git or the worktree has of them: each of these can be merged. */
export async function measureDependencies(
  places: DependencySources,
  base: string,
  files: readonly ChangedManifest[],
): Promise<GitResult<DependencyFindings>> {
  const changed = files.filter(({ path }) => findDependencyFile(path));
  const texts = (await Promise.all(changed.map(async (file) => readTexts(places, base, file)))).flat();
  const found = findNewDependencies(texts);
  if (found.added.length === 0) return { ok: true, value: found };
  // What any other file of the base named is not new.
  const tree = await git(['ls-tree', '-r', '-z', '--name-only', base], { cwd: places.own, maxBytes: MOST_BYTES });
  if (!tree.ok) return tree;
  const known = new Set(changed.map(({ path }) => path));
  const others = tree.value.stdout.split('\0').filter((path) => !known.has(path) && findDependencyFile(path));
  for (const path of others.slice(0, MOST_FILES)) {
    texts.push({ path, before: await readBlob(places.own, `${base}:${path}`), after: undefined });
  }
  return { ok: true, value: findNewDependencies(texts) };
}

const MOST_FILES = 2000;
const MOST_BYTES = 64 * 1024 * 1024;

async function readTexts(
  { worktree, own }: DependencySources,
  base: string,
  { path, blobs }: ChangedManifest,
): Promise<ChangedText[]> {
  const before = await readBlob(own, `${base}:${path}`);
  // What is only staged is in the worktree's repository alone.
  const kept = await Promise.all(
    [...blobs].map(async (sha) => (await readBlob(own, sha)) ?? (await readBlob(worktree, sha))),
  );
  const here = await readWorktreeFile(join(worktree, path));
  return [...new Set([here, ...kept])].map((after) => ({ path, before, after }));
}

/** A link may lead to what never ends. */
async function readWorktreeFile(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MOST_BYTES) return undefined;
  return readFile(path, 'utf8').catch(() => undefined);
}

async function readBlob(cwd: GitLocation, name: string): Promise<string | undefined> {
  const text = await git(['cat-file', 'blob', name], { cwd, maxBytes: MOST_BYTES });
  return text.ok ? text.value.stdout : undefined;
}
