import { operatorEnvironment } from '../config.ts';
import { findRemoteUrl } from '../remote-url.ts';

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
