import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { runOwnGit } from './own/own-git.ts';
import type { OwnRepository } from './own/own-repository.ts';
import { operatorEnvironment } from './config.ts';
import { isPath } from './remote-url.ts';
import { git, type GitResult } from './run-git.ts';

/** The branch of a remote that the main branch follows. */
export interface Upstream {
  readonly url: string;
  readonly ref: string;
  /** Tells two upstreams apart without naming them: an address may hold a credential. */
  readonly digest: string;
}

/**
 * The upstream of a branch, as the repository has it configured; null if there is none. A remote with several addresses has none either:
 * git fetches from the first, and which of them counts would depend on who reads them.
 */
export async function findUpstream(repository: string, branch: string): Promise<Upstream | null> {
  const listed = await git(['config', '--list', '-z'], { cwd: repository });
  if (!listed.ok) return null;
  const settings = listed.value.stdout.split('\0').map((each): [string, string] => {
    const end = each.indexOf('\n');
    return [end === -1 ? each : each.slice(0, end), end === -1 ? '' : each.slice(end + 1)];
  });
  const valuesOf = (name: string) => settings.filter(([key]) => key === name).map(([, value]) => value);
  const remote = valuesOf(`branch.${branch}.remote`).at(-1) ?? 'origin';
  const [url, ...others] = valuesOf(`remote.${remote}.url`);
  const ref = valuesOf(`branch.${branch}.merge`).at(-1) ?? `refs/heads/${branch}`;
  if (url === undefined || others.length > 0 || !ref.startsWith('refs/')) return null;
  const digest = createHash('sha256').update(`${url}\n${ref}`).digest('hex');
  return { url: isPath(url) ? resolve(repository, url) : url, ref, digest };
}

/**
 * Fetches the upstream branch into Baton's own repository, and says where it is. The repository's configuration has no part in it, as
 * agents can write there: how to log in is read from the operator's own.
 */
export async function fetchUpstream(
  own: OwnRepository,
  { url, ref, digest }: Upstream,
  { login = [], timeoutMs }: { readonly login?: readonly string[]; readonly timeoutMs: number },
): Promise<GitResult<string>> {
  const copy = `refs/upstream/${digest}`;
  const settings = [...login, 'fetch.fsckObjects=false'].flatMap((each) => ['-c', each]);
  const asked = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', url, `+${ref}:${copy}`];
  const fetched = await runOwnGit(own, [...settings, ...asked], { env: operatorEnvironment(), timeoutMs });
  return fetched.ok ? { ok: true, value: copy } : fetched;
}
