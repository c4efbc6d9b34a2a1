import { isAncestor } from './commits.ts';
import { findRemoteUrl, operatorEnvironment } from './config.ts';
import { type OwnRepository, runOwnGit } from './own/own-repository.ts';
import { findSha } from './repository.ts';
import { gitFailure, type GitFailure, type GitOptions, type GitOutput, type GitResult } from './run-git.ts';

export interface Push {
  readonly remote: string;
  readonly branch: string;
  readonly head: string;
  /** What we pushed last: only that may be replaced by what does not follow from it. */
  readonly last: string | null;
  /** Laid over the configuration, as `name=value`: how to log in. */
  readonly config: readonly string[];
}

/**
 * Brings a branch of a remote to a commit. What somebody else has pushed there is never overwritten: the push names what it expects to find,
 * and the remote refuses where that is no longer so. Done once already, it is done.
 */
export async function pushBranch(own: OwnRepository, push: Push): Promise<GitResult<'pushed' | 'there'>> {
  const { branch, head, last } = push;
  const ref = `refs/heads/${branch}`;
  const there = await findRemoteSha(own, push, ref);
  if (!there.ok) return there;
  if (there.value === head) return { ok: true, value: 'there' };
  if (there.value !== null && there.value !== last && !(await isBefore(own, there.value, head))) {
    return rejected(
      push,
      `it has ${there.value.slice(0, 12)} there, which Baton did not push and which ${head.slice(0, 12)} does not follow from`,
    );
  }
  const lease = `--force-with-lease=${ref}:${there.value ?? ''}`;
  const pushed = await reach(own, push, ['push', '--porcelain', lease], [`${head}:${ref}`], {
    // The remote was reached, and it said no.
    answers: [1],
  });
  if (!pushed.ok) return unreachable(push, pushed);
  if (pushed.value.code === 0) return { ok: true, value: 'pushed' };
  return rejected(push, reasonIn(pushed.value));
}

function reasonIn({ stdout, stderr }: GitOutput): string {
  const refused = stdout.split('\n').filter((line) => line.startsWith('!'));
  const said = stderr.split('\n').filter((line) => /^(?:remote|error|fatal): \S/.test(line));
  const lines = [...refused.map((line) => line.split('\t').at(-1) ?? ''), ...(said.length > 0 ? said : [stderr])];
  return lines.join('; ').trim().slice(0, 1000);
}

/** Removes a branch from a remote, if it still has this commit. */
export async function deleteRemoteBranch(
  own: OwnRepository,
  push: Omit<Push, 'last'>,
): Promise<GitResult<'deleted' | 'gone' | 'kept'>> {
  const ref = `refs/heads/${push.branch}`;
  const there = await findRemoteSha(own, push, ref);
  if (!there.ok) return there;
  if (there.value === null) return { ok: true, value: 'gone' };
  if (there.value !== push.head) return { ok: true, value: 'kept' };
  const lease = `--force-with-lease=${ref}:${push.head}`;
  const deleted = await reach(own, push, ['push', '--quiet', lease], [`:${ref}`]);
  return deleted.ok ? { ok: true, value: 'deleted' } : deleted;
}

/** Where a branch of a remote stands now, at an address that the caller has looked at; Baton's own copy of it is brought up to date. */
export async function fetchBranch(
  own: OwnRepository,
  { remote, branch, url, config }: Pick<Push, 'remote' | 'branch' | 'config'> & { readonly url: string },
): Promise<GitResult<string>> {
  const copy = `refs/remotes/${remote}/${branch}`;
  const asked = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head'];
  const fetched = await reachAt(own, url, { config }, asked, [`+refs/heads/${branch}:${copy}`]);
  if (!fetched.ok) return unreachable({ remote }, fetched);
  const sha = await findSha(own, copy);
  return sha === null
    ? gitFailure('git/no-main-branch', `'${remote}' has no branch '${branch}'`, 'Check `into` under [merge].')
    : { ok: true, value: sha };
}

const PUSH_MS = 600_000;

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
 * Git reaches a remote of the user's repository from Baton's own, with its address and the operator's own configuration: that of the
 * repository may name programs (`core.sshCommand`, `remote.*.uploadpack`, credential helpers), and agents can write there.
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
  const asked = [...settings(push), ...command, '--', url, ...refs];
  return runOwnGit(own, asked, { env: operatorEnvironment(), timeoutMs: PUSH_MS, ...options });
}

function settings({ config }: Pick<Push, 'config'>): string[] {
  return config.flatMap((each) => ['-c', each]);
}

function rejected({ remote, branch }: Pick<Push, 'remote' | 'branch'>, why: string): GitFailure {
  const hint = `Look at it: git fetch ${remote} ${branch}. Bring what is there into the task's branch, or delete it there, then try again.`;
  return gitFailure('git/push-rejected', `'${branch}' cannot be pushed to '${remote}': ${why}`, hint);
}

function unreachable({ remote }: Pick<Push, 'remote'>, { problem }: GitFailure): GitFailure {
  return gitFailure(
    'git/remote-unreachable',
    `'${remote}' does not answer: ${problem.message}`,
    `Check it by hand: git ls-remote ${remote}`,
  );
}
