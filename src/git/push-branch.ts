import { isAncestor } from './commits.ts';
import { findSha } from './repository.ts';
import { failed, git, gitText, type GitFailure, type GitOutput, type GitResult } from './run-git.ts';

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
export async function pushBranch(repository: string, push: Push): Promise<GitResult<'pushed' | 'there'>> {
  const { remote, branch, head, last } = push;
  const ref = `refs/heads/${branch}`;
  const there = await findRemoteSha(repository, push, ref);
  if (!there.ok) return there;
  if (there.value === head) return { ok: true, value: 'there' };
  if (there.value !== null && there.value !== last && !(await isBefore(repository, there.value, head))) {
    return rejected(
      push,
      `it has ${there.value.slice(0, 12)} there, which Baton did not push and which ${head.slice(0, 12)} does not follow from`,
    );
  }
  const lease = `--force-with-lease=${ref}:${there.value ?? ''}`;
  const pushed = await git([...settings(push), 'push', '--porcelain', lease, '--', remote, `${head}:${ref}`], {
    cwd: repository,
    timeoutMs: PUSH_MS,
    // The remote was reached, and it, or a hook of the user's, said no.
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
  repository: string,
  push: Omit<Push, 'last'>,
): Promise<GitResult<'deleted' | 'gone' | 'kept'>> {
  const ref = `refs/heads/${push.branch}`;
  const there = await findRemoteSha(repository, push, ref);
  if (!there.ok) return there;
  if (there.value === null) return { ok: true, value: 'gone' };
  if (there.value !== push.head) return { ok: true, value: 'kept' };
  const lease = `--force-with-lease=${ref}:${push.head}`;
  const deleted = await git([...settings(push), 'push', '--quiet', lease, '--', push.remote, `:${ref}`], {
    cwd: repository,
    timeoutMs: PUSH_MS,
  });
  return deleted.ok ? { ok: true, value: 'deleted' } : deleted;
}

/** Where a branch of a remote stands now; our copy of it is brought up to date. */
export async function fetchBranch(
  repository: string,
  { remote, branch, config }: Pick<Push, 'remote' | 'branch' | 'config'>,
): Promise<GitResult<string>> {
  const copy = `refs/remotes/${remote}/${branch}`;
  const asked = [
    'fetch',
    '--quiet',
    '--no-tags',
    '--no-write-fetch-head',
    '--',
    remote,
    `+refs/heads/${branch}:${copy}`,
  ];
  const fetched = await git([...settings({ config }), ...asked], { cwd: repository, timeoutMs: PUSH_MS });
  if (!fetched.ok) return unreachable({ remote }, fetched);
  const sha = await findSha(repository, copy);
  return sha === null
    ? failed('git/no-main-branch', `'${remote}' has no branch '${branch}'`, 'Check `into` under [merge].')
    : { ok: true, value: sha };
}

const PUSH_MS = 600_000;

async function findRemoteSha(
  repository: string,
  push: Pick<Push, 'remote' | 'config'>,
  ref: string,
): Promise<GitResult<string | null>> {
  const asked = [...settings(push), 'ls-remote', '--quiet', '--', push.remote, ref];
  const listed = await gitText(asked, { cwd: repository, timeoutMs: PUSH_MS });
  if (!listed.ok) return unreachable(push, listed);
  return { ok: true, value: /^[0-9a-f]{40,64}/.exec(listed.value)?.[0] ?? null };
}

async function isBefore(repository: string, sha: string, head: string): Promise<boolean> {
  if ((await findSha(repository, sha)) === null) return false;
  const before = await isAncestor(repository, sha, head);
  return before.ok && before.value;
}

function settings({ config }: Pick<Push, 'config'>): string[] {
  return config.flatMap((each) => ['-c', each]);
}

function rejected({ remote, branch }: Pick<Push, 'remote' | 'branch'>, why: string): GitFailure {
  const hint = `Look at it: git fetch ${remote} ${branch}. Bring what is there into the task's branch, or delete it there, then try again.`;
  return failed('git/push-rejected', `'${branch}' cannot be pushed to '${remote}': ${why}`, hint);
}

function unreachable({ remote }: Pick<Push, 'remote'>, { problem }: GitFailure): GitFailure {
  return failed(
    'git/remote-unreachable',
    `'${remote}' does not answer: ${problem.message}`,
    `Check it by hand: git ls-remote ${remote}`,
  );
}
