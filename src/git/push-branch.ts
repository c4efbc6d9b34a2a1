import { isAncestor } from './commits.ts';
import { findRemoteUrl, operatorEnvironment } from './config.ts';
import { type OwnRepository, runOwnGit } from './own/own-repository.ts';
import { findSha } from './repository.ts';
import { gitFailure, type GitFailure, type GitOptions, type GitOutput, type GitResult } from './run-git.ts';

export interface Push {
  readonly remote: string;
  readonly branch: string;
  readonly head: string;
  /** The last pushed commit. Only this one may be overwritten by a commit that does not descend from it. */
  readonly last: string | null;
  /** Additional settings as `name=value`, for logins. */
  readonly config: readonly string[];
}

/**
 * Pushes a branch and never overwrites commits of others: the remote refuses if its branch is not at the expected
 * value. Idempotent.
 */
export async function pushBranch(own: OwnRepository, push: Push): Promise<GitResult<'pushed' | 'there'>> {
  const { branch, head, last } = push;
  const ref = `refs/heads/${branch}`;
  const current = await findRemoteSha(own, push, ref);
  if (!current.ok) return current;
  if (current.value === head) return { ok: true, value: 'there' };
  if (current.value !== null && current.value !== last && !(await isBefore(own, current.value, head))) {
    const [theirs, ours] = [current.value.slice(0, 12), head.slice(0, 12)];
    return rejected(
      push,
      `the remote has ${theirs}, which Baton did not push, and which is not an ancestor of ${ours}`,
    );
  }
  const lease = `--force-with-lease=${ref}:${current.value ?? ''}`;
  // Exit code 1: the remote refused.
  const pushed = await reach(own, push, ['push', '--porcelain', lease], [`${head}:${ref}`], { answers: [1] });
  if (!pushed.ok) return unreachable(push, pushed);
  if (pushed.value.code === 0) return { ok: true, value: 'pushed' };
  return rejected(push, reasonIn(pushed.value));
}

function reasonIn({ stdout, stderr }: GitOutput): string {
  const refused = stdout.split('\n').filter((line) => line.startsWith('!'));
  const reported = stderr.split('\n').filter((line) => /^(?:remote|error|fatal): \S/.test(line));
  const reasons = refused.map((line) => line.split('\t').at(-1) ?? '');
  return [...reasons, ...(reported.length > 0 ? reported : [stderr])].join('; ').trim().slice(0, 1000);
}

/** Removes a branch from a remote if it still has this commit. */
export async function deleteRemoteBranch(
  own: OwnRepository,
  push: Omit<Push, 'last'>,
): Promise<GitResult<'deleted' | 'gone' | 'kept'>> {
  const ref = `refs/heads/${push.branch}`;
  const current = await findRemoteSha(own, push, ref);
  if (!current.ok) return current;
  if (current.value === null) return { ok: true, value: 'gone' };
  if (current.value !== push.head) return { ok: true, value: 'kept' };
  const lease = `--force-with-lease=${ref}:${push.head}`;
  const deleted = await reach(own, push, ['push', '--quiet', lease], [`:${ref}`]);
  return deleted.ok ? { ok: true, value: 'deleted' } : deleted;
}

/** Fetches a remote branch from a checked URL into Baton's copy and returns its commit. */
export async function fetchBranch(
  own: OwnRepository,
  { remote, branch, url, config }: Pick<Push, 'remote' | 'branch' | 'config'> & { readonly url: string },
): Promise<GitResult<string>> {
  const copy = `refs/remotes/${remote}/${branch}`;
  const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head'];
  const fetched = await reachAt(own, url, { config }, args, [`+refs/heads/${branch}:${copy}`]);
  if (!fetched.ok) return unreachable({ remote }, fetched);
  const sha = await findSha(own, copy);
  return sha === null
    ? gitFailure('git/no-main-branch', `'${remote}' has no branch '${branch}'`, 'Check `into` under [merge].')
    : { ok: true, value: sha };
}

async function findRemoteSha(
  own: OwnRepository,
  push: Pick<Push, 'remote' | 'config'>,
  ref: string,
): Promise<GitResult<string | null>> {
  const listed = await reach(own, push, ['ls-remote', '--quiet'], [ref]);
  if (!listed.ok) return unreachable(push, listed);
  return { ok: true, value: /^[0-9a-f]{40,64}/.exec(listed.value.stdout)?.[0] ?? null };
}

async function isBefore(own: OwnRepository, sha: string, head: string): Promise<boolean> {
  if ((await findSha(own, sha)) === null) return false;
  const before = await isAncestor(own, sha, head);
  return before.ok && before.value;
}

/**
 * Runs git against a remote from Baton's repository, with the remote's URL and the operator's configuration. The user's
 * repository may name programs (`core.sshCommand`, `remote.*.uploadpack`, credential helpers), and agents can write
 * there.
 */
async function reach(
  own: OwnRepository,
  push: Pick<Push, 'remote' | 'config'>,
  command: readonly string[],
  refs: readonly string[],
  options: Pick<GitOptions, 'answers'> = {},
): Promise<GitResult<GitOutput>> {
  const url = await findRemoteUrl(own.source.path, push.remote, 'push');
  return url.ok ? reachAt(own, url.value, push, command, refs, options) : url;
}

async function reachAt(
  own: OwnRepository,
  url: string,
  push: Pick<Push, 'config'>,
  command: readonly string[],
  refs: readonly string[],
  options: Pick<GitOptions, 'answers'> = {},
): Promise<GitResult<GitOutput>> {
  const args = [...push.config.flatMap((each) => ['-c', each]), ...command, '--', url, ...refs];
  return runOwnGit(own, args, { env: operatorEnvironment(), timeoutMs: PUSH_MS, ...options });
}

function rejected({ remote, branch }: Pick<Push, 'remote' | 'branch'>, why: string): GitFailure {
  const hint = `Inspect the branch: git fetch ${remote} ${branch}. Merge it into the task's branch, or delete it on the remote, then try again.`;
  return gitFailure('git/push-rejected', `'${branch}' cannot be pushed to '${remote}': ${why}`, hint);
}

function unreachable({ remote }: Pick<Push, 'remote'>, { problem }: GitFailure): GitFailure {
  const hint = `Check the remote by hand: git ls-remote ${remote}`;
  return gitFailure('git/remote-unreachable', `'${remote}' does not answer: ${problem.message}`, hint);
}

const PUSH_MS = 600_000;
