import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  conversionSettings,
  findRemoteUrl,
  operatorEnvironment,
  readConfig,
  readFileSettings,
  readOperatorConfig,
} from '../config.ts';
import { git, type GitResult, gitText, type OwnGitFolder } from '../run-git.ts';
import { type InspectedWorktree, withInspectionFolder } from './inspection-folder.ts';

type Checkout = OwnGitFolder & { readonly worktree: string };

/**
 * Works on a checkout of a user with its own index. Of the configuration of its repository only line ends, what the file system can do and
 * which folders are checked out count. Filters such as LFS are those of the operator's own configuration.
 */
export async function withCheckout<T>(
  {
    stateDir,
    path,
    format,
    objects,
  }: Pick<InspectedWorktree, 'stateDir' | 'format' | 'objects'> & { readonly path: string },
  use: (place: Checkout, settings: readonly string[]) => Promise<GitResult<T>>,
): Promise<GitResult<T>> {
  const asked = ['rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir'];
  const found = await gitText(asked, { cwd: path });
  if (!found.ok) return found;
  const [gitDir = '', commonDir = ''] = found.value.split('\n');
  const sparse = await readConfig(path, ['--type=bool'], 'core.sparseCheckout');
  const isSparse = sparse.ok && sparse.value === 'true';
  const conversion = [...conversionSettings(await readOperatorConfig(), 'all'), ...(await readFileSettings(path))];
  const reach = await readFilterAccess(path, conversion);
  // Objects of LFS that the repository has need not be fetched.
  const storage = ['-c', `lfs.storage=${join(commonDir, 'lfs')}`];
  const looked = { stateDir, gitDir, worktree: path, format, objects, index: 'itself' } as const;
  return withInspectionFolder(looked, async (place) => {
    const rules = join('info', 'sparse-checkout');
    if (isSparse) await copyFile(join(gitDir, rules), join(place.gitDir, rules)).catch(() => undefined);
    const reaching = { ...place, env: { ...place.env, ...reach.env } };
    const settings = [...conversion, ...reach.settings, ...storage];
    return use(reaching, [...settings, ...(isSparse ? ['-c', 'core.sparseCheckout=true'] : [])]);
  });
}

export interface FilterAccess {
  /** Arguments of git; git passes them on to the filter. */
  readonly settings: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * What a filter of the operator needs to fetch the content of a file, as git-lfs does: the address of the repository's `origin`, and the
 * operator's own configuration, which says how to log in. Nothing else of the repository's configuration is passed on.
 */
export async function readFilterAccess(repository: string, conversion: readonly string[]): Promise<FilterAccess> {
  if (!conversion.some((setting) => setting.startsWith('filter.'))) return { settings: [], env: {} };
  const url = await findRemoteUrl(repository, 'origin', 'fetch');
  const isAddress = url.ok && !ODD_URL.test(url.value);
  return { settings: isAddress ? ['-c', `remote.origin.url=${url.value}`] : [], env: operatorEnvironment() };
}

/** An option of a program, a helper that git would run (`ext::`), or more than one line. */
const ODD_URL = /^-|^[^/]*::|\/\/-|[\0\r\n]/;

/**
 * Settings that put the operator's own filters in the place of those a repository names, and turn all others off: for commands that only
 * git itself can do in somebody's worktree.
 */
export async function readOperatorFilters(worktree: string): Promise<string[]> {
  const asked = ['config', '--name-only', '-z', '--get-regexp', String.raw`^filter\.`];
  const named = await git(asked, { cwd: worktree, answers: [1] });
  if (!named.ok) return [];
  const names = named.value.stdout.split('\0').filter((name) => name !== '');
  const config = await readOperatorConfig();
  return [...new Set(names)].flatMap((name) => [
    '-c',
    `${name}=${config.get(name) ?? OFF[name.slice(name.lastIndexOf('.') + 1)] ?? ''}`,
  ]);
}

const OFF: Readonly<Record<string, string>> = { required: 'false' };
