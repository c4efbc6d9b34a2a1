import { hasCompleteCommit, type OwnRepository, pinCommits } from '../own/own-repository.ts';
import { IGNORED_MISTAKES } from '../own/transfer-pack.ts';
import { gitFailure, type GitResult } from '../run-git.ts';
import { listRemote } from './list-remote.ts';
import { reachRemote } from './reach-remote.ts';

export interface RemoteFetch {
  readonly url: string;
  /** A ref of the remote, or the full id of a commit. */
  readonly ref: string;
  readonly timeoutMs?: number;
}

/** Fetches a ref or a commit into Baton's own repository and pins it. Returns the commit. */
export async function fetchRef(own: OwnRepository, fetch: RemoteFetch): Promise<GitResult<string>> {
  const { url, ref, timeoutMs } = fetch;
  const isId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(ref);
  const sha = isId ? { ok: true as const, value: ref } : await findRemoteSha(fetch);
  if (!sha.ok || hasCompleteCommit(own, sha.value)) return sha;
  // Fetches by id, because the ref may move between two calls.
  const command = [...STRICT, 'fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--recurse-submodules=no'];
  const call = { url, command, refs: [sha.value], ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const fetched = await reachRemote(own, call);
  if (!fetched.ok) return fetched;
  const pinned = await pinCommits(own, [sha.value]);
  return pinned.ok ? sha : pinned;
}

async function findRemoteSha({ url, ref, timeoutMs }: RemoteFetch): Promise<GitResult<string>> {
  const listed = await listRemote(url, [ref], timeoutMs);
  if (!listed.ok) return listed;
  const sha = listed.value.get(ref);
  if (sha !== undefined) return { ok: true, value: sha };
  return gitFailure(
    'git/no-remote-ref',
    `the git remote has no ${ref}`,
    'Push the commit again from the host that has it.',
  );
}

/** The same checks as for commits of the user's repository. */
const STRICT = [
  '-c',
  'fetch.fsckObjects=true',
  ...IGNORED_MISTAKES.flatMap((mistake) => ['-c', `fetch.fsck.${mistake}=ignore`]),
];
