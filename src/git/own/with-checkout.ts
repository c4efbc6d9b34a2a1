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
import { gitFields, type GitResult, gitText, type OwnGitFolder } from '../run-git.ts';
import { type InspectedWorktree, withInspectionFolder } from './inspection-folder.ts';

type Checkout = OwnGitFolder & { readonly worktree: string };

/**
 * Calls `use` with the files of the checkout. Only line ends, file system and sparse settings come from the repository;
 * filters such as LFS are the operator's.
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
  const args = ['rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir'];
  const found = await gitText(args, { cwd: path });
  if (!found.ok) return found;
  const [gitDir = '', commonDir = ''] = found.value.split('\n');
  const sparse = await readConfig(path, ['--type=bool'], 'core.sparseCheckout');
  const isSparse = sparse.ok && sparse.value === 'true';
  const conversion = [...conversionSettings(await readOperatorConfig(), 'all'), ...(await readFileSettings(path))];
  const reach = await readFilterAccess(path, conversion);
  // LFS objects that the repository already has need not be fetched.
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
  /** Arguments of git, which passes them on to the filter. */
  readonly settings: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What git-lfs needs to fetch: the URL of `origin` and the operator's logins; no other repository configuration. */
export async function readFilterAccess(repository: string, conversion: readonly string[]): Promise<FilterAccess> {
  if (!conversion.some((setting) => setting.startsWith('filter.'))) return { settings: [], env: {} };
  const url = await findRemoteUrl(repository, 'origin', 'fetch');
  const isAddress = url.ok && !ODD_URL.test(url.value);
  return { settings: isAddress ? ['-c', `remote.origin.url=${url.value}`] : [], env: operatorEnvironment() };
}

/** A URL that git would take for an option or a helper to run (`ext::`), or that has several lines. */
const ODD_URL = /^-|^[^/]*::|\/\/-|[\0\r\n]/;

/** Replaces the repository's filters by the operator's, for commands that must run in a user's worktree. */
export async function readOperatorFilters(worktree: string): Promise<string[]> {
  const args = ['config', '--name-only', '-z', '--get-regexp', String.raw`^filter\.`];
  const names = await gitFields(args, { cwd: worktree, answers: [1] });
  if (!names.ok) return [];
  const config = await readOperatorConfig();
  return [...new Set(names.value)].flatMap((name) => [
    '-c',
    `${name}=${config.get(name) ?? OFF[name.slice(name.lastIndexOf('.') + 1)] ?? ''}`,
  ]);
}

const OFF: Readonly<Record<string, string>> = { required: 'false' };
