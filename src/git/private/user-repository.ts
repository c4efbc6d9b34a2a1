import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import { readFence } from '../fence/fence.ts';
import { attempt, git, gitFailure, type GitOptions, type GitResult, gitText, unwrap } from '../run-git.ts';
import { readWorktreeHead } from './move-refs.ts';
import { findHooksPath, parseSettings, type Setting } from './private-config.ts';
import { PACKED_HEADER, type Refs } from './private-refs.ts';

/** What a private git directory takes from a worktree's repository. */
export interface UserRepository extends Pick<PrivateGit, 'at' | 'commonDir' | 'worktree' | 'format'> {
  readonly objects: readonly ObjectFolder[];
  readonly head: string;
  readonly settings: readonly Setting[];
  /** The other refs, in the format of git's `packed-refs`. */
  readonly packedRefs: string;
  /** Symbolic refs and the refs they name, such as refs/remotes/origin/HEAD. */
  readonly symbolic: Refs;
  /** The user's hooks folder, mounted if absolute; null if the repository has no hooks. */
  readonly hooksPath: string | null;
}

export async function readUserRepository(folder: string): Promise<GitResult<UserRepository>> {
  const places = ['--show-toplevel', '--git-dir', '--git-common-dir', '--show-object-format'];
  return attempt(async () => {
    const [found, listed, refs] = await Promise.all([
      gitText(['rev-parse', '--path-format=absolute', ...places], { cwd: folder }),
      gitText(['config', '--list', '--show-scope', '-z'], { cwd: folder }),
      readUserRefs({ cwd: folder }),
    ]);
    const [worktree = '', at = '', commonDir = '', format, ...more] = unwrap(found).split('\n');
    if ((format !== 'sha1' && format !== 'sha256') || more.length > 0) {
      const hint = 'Use a repository of sha1 or sha256 objects, in a folder without line breaks in its name.';
      return unwrap(gitFailure('git/object-format', `'${folder}' is in a repository of an unknown kind`, hint));
    }
    const settings = parseSettings(unwrap(listed));
    const place = { at, commonDir, worktree };
    return {
      ...place,
      ...unwrap(refs),
      format,
      settings,
      head: await readWorktreeHead(at),
      objects: findObjectFolders(join(commonDir, 'objects')),
      hooksPath: resolveHooks(place, settings),
    };
  });
}

/** Reads only refs that people use: not Baton's own, replacements or notes. */
export async function readUserRefs(
  place: GitOptions,
): Promise<GitResult<Pick<UserRepository, 'packedRefs' | 'symbolic'>>> {
  // `%(symref)` is empty for most refs. Filtering them in git would take twice as long.
  const args = [
    'for-each-ref',
    '--format=%(symref)%(objectname) %(refname)',
    'refs/heads',
    'refs/remotes',
    'refs/tags',
  ];
  const listed = await git(args, { ...place, maxBytes: MOST_BYTES });
  if (!listed.ok) return listed;
  const symbolic = new Map<string, string>();
  const length = /^[0-9a-f]+(?= )/m.exec(listed.value.stdout)?.[0].length ?? 40;
  const packedRefs = listed.value.stdout.replaceAll(/^(refs\/.+) (.+)\n/gm, (_, target: string, name: string) => {
    symbolic.set(name, target.slice(0, -length));
    return '';
  });
  return { ok: true, value: { packedRefs: PACKED_HEADER + packedRefs, symbolic } };
}

interface ObjectFolder {
  readonly path: string;
  readonly hasAlternates: boolean;
}

function findObjectFolders(first: string): ObjectFolder[] {
  const found = new Map<string, ObjectFolder>();
  const add = (path: string, depth: number): void => {
    if (found.has(path) || depth > MOST_DEPTH || !existsSync(path)) return;
    const alternates = readAlternates(path);
    found.set(path, { path, hasAlternates: alternates.length > 0 });
    for (const each of alternates) add(each, depth + 1);
  };
  add(first, 0);
  return [...found.values()];
}

function readAlternates(objects: string): string[] {
  const list = join(objects, 'info', 'alternates');
  if (!existsSync(list)) return [];
  const lines = readFileSync(list, 'utf8').split('\n');
  const paths = lines.filter((line) => line !== '' && !line.startsWith('#'));
  // Git quotes a path like C, which JSON can parse in all usual cases.
  return paths.map((path) => resolve(objects, path.startsWith('"') ? unquoted(path) : path));
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

function resolveHooks(
  { at, commonDir }: Pick<PrivateGit, 'at' | 'commonDir'>,
  settings: readonly Setting[],
): string | null {
  const configured = findHooksPath(settings, readFence(at)?.ownHooksPath ?? '') ?? join(commonDir, 'hooks');
  const path = configured.replace(/^~(?=\/)/, process.env['HOME'] ?? '~');
  if (!isAbsolute(path)) return path;
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder && readdirSync(path).some((name) => !name.endsWith('.sample')) ? realpathSync(path) : null;
}

/** Whether the path is in the folder or the folder itself. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return !way.startsWith('..') && !isAbsolute(way);
}

const MOST_BYTES = 256 * 1024 * 1024;
const MOST_DEPTH = 5;
