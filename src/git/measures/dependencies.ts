import { basename } from 'node:path';
import { git, type GitLocation, type GitResult, type OwnGitFolder } from '../run-git.ts';
import { readInside } from '../worktree/read-inside.ts';
import {
  nameInPackageJson,
  parseBunLock,
  parseNpmLock,
  parsePackageJson,
  parsePnpmLock,
  parseYarnLock,
} from './javascript.ts';
import { nameInCargoToml, nameInGoMod, parseCargoLock, parseCargoToml, parseGoMod, parseGoSum } from './native.ts';
import {
  nameInPyproject,
  parsePipfile,
  parsePipfileLock,
  parsePyproject,
  parseRequirements,
  parseSetupCfg,
  parseSetupPy,
  parseTomlLock,
} from './python.ts';

export interface ChangedManifest {
  readonly path: string;
  readonly blobs: ReadonlySet<string>;
}

export interface DependencySources {
  readonly worktree: string;
  readonly own: OwnGitFolder;
}

/** Finds dependencies added by manifests and lock files in any version that could be merged. */
export async function measureDependencies(
  places: DependencySources,
  base: string,
  files: readonly ChangedManifest[],
): Promise<GitResult<DependencyFindings>> {
  const changed = files.filter(({ path }) => findDependencyFile(path));
  const texts = (await Promise.all(changed.map(async (file) => readTexts(places, base, file)))).flat();
  const found = findNewDependencies(texts);
  if (found.added.length === 0) return { ok: true, value: found };
  // A dependency that another file of the base names is not new.
  const tree = await git(['ls-tree', '-r', '-z', '--name-only', base], { cwd: places.own, maxBytes: MOST_BYTES });
  if (!tree.ok) return tree;
  const known = new Set(changed.map(({ path }) => path));
  const others = tree.value.stdout.split('\0').filter((path) => !known.has(path) && findDependencyFile(path));
  for (const path of others.slice(0, MOST_FILES)) {
    texts.push({ path, before: await readBlob(places.own, `${base}:${path}`), after: undefined });
  }
  return { ok: true, value: findNewDependencies(texts) };
}

const MOST_BYTES = 64 * 1024 * 1024;

async function readTexts(
  { worktree, own }: DependencySources,
  base: string,
  { path, blobs }: ChangedManifest,
): Promise<ChangedText[]> {
  const before = await readBlob(own, `${base}:${path}`);
  // Staged content exists only in the worktree's repository.
  const kept = await Promise.all(
    [...blobs].map(async (sha) => (await readBlob(own, sha)) ?? (await readBlob(worktree, sha))),
  );
  // Refuses a link that leads outside: the names in a private file would reach the ledger.
  const here = (await readInside(worktree, path, MOST_BYTES))?.toString('utf8');
  return [...new Set([here, ...kept])].map((after) => ({ path, before, after }));
}

async function readBlob(cwd: GitLocation, name: string): Promise<string | undefined> {
  const text = await git(['cat-file', 'blob', name], { cwd, maxBytes: MOST_BYTES });
  return text.ok ? text.value.stdout : undefined;
}

/** A changed file. A side without the file is undefined. */
export interface ChangedText {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

interface NewDependency {
  readonly ecosystem: DependencyFile['ecosystem'];
  readonly name: string;
  readonly paths: string[];
}

export interface DependencyFindings {
  readonly added: readonly NewDependency[];
  /** Changed files that cannot be parsed, so their dependencies are unknown. */
  readonly unreadable: readonly { readonly path: string; readonly why: string }[];
}

/**
 * Finds dependencies that no file named before. A dependency that moves between manifests is not new, nor is a package
 * of the repository itself; one named only by a lock file is. A file may be given in several versions.
 */
export function findNewDependencies(changes: readonly ChangedText[]): DependencyFindings {
  const before = new Set<string>();
  const after = new Map<string, NewDependency>();
  const unreadable: { path: string; why: string }[] = [];
  for (const { path, before: old, after: now } of changes) {
    const file = findDependencyFile(path);
    if (file === undefined) continue;
    try {
      for (const name of old === undefined ? [] : readLeniently(file, old)) before.add(`${file.ecosystem} ${name}`);
      for (const name of now === undefined ? [] : file.read(now)) {
        const key = `${file.ecosystem} ${name}`;
        const found = after.get(key);
        if (found === undefined) after.set(key, { ecosystem: file.ecosystem, name, paths: [path] });
        else if (!found.paths.includes(path)) found.paths.push(path);
      }
    } catch (error) {
      unreadable.push({ path, why: error instanceof Error ? error.message : String(error) });
    }
  }
  const added = [...after].flatMap(([key, found]) => (before.has(key) ? [] : [found]));
  return { added, unreadable };
}

/** A file that was invalid before the change counts as empty. */
function readLeniently({ read, nameIn }: DependencyFile, text: string): Set<string> {
  try {
    const own = nameIn?.(text);
    return own === undefined ? read(text) : read(text).add(own);
  } catch {
    return new Set();
  }
}

interface DependencyFile {
  readonly ecosystem: 'npm' | 'python' | 'cargo' | 'go';
  /** The packages that the file names. Throws if the text is invalid. */
  readonly read: (text: string) => Set<string>;
  /** The name of the described package, which other packages of the repository may use. */
  readonly nameIn?: (text: string) => string | undefined;
}

export function findDependencyFile(path: string): DependencyFile | undefined {
  // Files inside installed packages belong to those packages.
  if (/(?:^|\/)(?:node_modules|vendor|\.venv|target)\//.test(path)) return undefined;
  const name = basename(path);
  const isRequirements = REQUIREMENTS_NAME.test(name) || REQUIREMENTS_PATH.test(path);
  return BY_NAME.get(name) ?? (isRequirements ? { ecosystem: 'python', read: parseRequirements } : undefined);
}

const REQUIREMENTS_NAME = /^[\w.-]*requirements[\w.-]*\.(?:txt|in)$/;
const REQUIREMENTS_PATH = /(?:^|\/)requirements\/[\w.-]+\.(?:txt|in)$/;

/** The parser of each file; a manifest also has a reader of its own package's name. */
const BY_NAME: ReadonlyMap<string, DependencyFile> = new Map([
  ...files('npm', {
    'package.json': [parsePackageJson, nameInPackageJson],
    'package-lock.json': parseNpmLock,
    'npm-shrinkwrap.json': parseNpmLock,
    'pnpm-lock.yaml': parsePnpmLock,
    'yarn.lock': parseYarnLock,
    'bun.lock': parseBunLock,
    'bun.lockb': readNothing,
  }),
  ...files('python', {
    'pyproject.toml': [parsePyproject, nameInPyproject],
    'uv.lock': parseTomlLock,
    'poetry.lock': parseTomlLock,
    'pdm.lock': parseTomlLock,
    'pylock.toml': parseTomlLock,
    'setup.cfg': parseSetupCfg,
    'setup.py': parseSetupPy,
    Pipfile: parsePipfile,
    'Pipfile.lock': parsePipfileLock,
  }),
  ...files('cargo', { 'Cargo.toml': [parseCargoToml, nameInCargoToml], 'Cargo.lock': parseCargoLock }),
  ...files('go', { 'go.mod': [parseGoMod, nameInGoMod], 'go.sum': parseGoSum }),
]);

function files(
  ecosystem: DependencyFile['ecosystem'],
  readers: Readonly<Record<string, Reader | readonly [Reader, NonNullable<DependencyFile['nameIn']>]>>,
): [string, DependencyFile][] {
  return Object.entries(readers).map(([name, reader]) => {
    if (typeof reader === 'function') return [name, { ecosystem, read: reader }];
    return [name, { ecosystem, read: reader[0], nameIn: reader[1] }];
  });
}

type Reader = DependencyFile['read'];

/** The format is binary, and only bun can read it. */
function readNothing(): never {
  throw new TypeError('it is binary; a bun.lock can be read');
}

const MOST_FILES = 2000;
