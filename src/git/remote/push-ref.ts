import type { OwnRepository } from '../own/own-repository.ts';
import { gitFailure, type GitOutput, type GitResult } from '../run-git.ts';
import { listRemote } from './list-remote.ts';
import { reachRemote } from './reach-remote.ts';
import { hideCredentials } from './remote-url.ts';

export interface RefUpdate {
  readonly ref: string;
  /** Null to remove the ref. */
  readonly sha: string | null;
  /**
   * The value that the remote must have; null for no such ref. If absent, the ref is overwritten, which is only for
   * refs that one host writes.
   */
  readonly lease?: string | null;
}

export interface RefPush {
  readonly url: string;
  readonly updates: readonly RefUpdate[];
  readonly timeoutMs?: number;
}

/** `moved`: a ref of the remote differs from its lease. Idempotent. */
export type PushResult = 'pushed' | 'moved';

export async function pushRef(
  own: OwnRepository,
  { url, timeoutMs, ...update }: RefUpdate & Omit<RefPush, 'updates'>,
): Promise<GitResult<PushResult>> {
  return pushRefs(own, { url, updates: [update], ...(timeoutMs === undefined ? {} : { timeoutMs }) });
}

export async function pushRefs(own: OwnRepository, push: RefPush): Promise<GitResult<PushResult>> {
  const { url, updates, timeoutMs } = push;
  const leases = updates.flatMap(({ ref, lease }) =>
    lease === undefined ? [] : [`--force-with-lease=${ref}:${lease ?? ''}`],
  );
  const refs = updates.map(({ ref, sha, lease }) => `${lease === undefined ? '+' : ''}${sha ?? ''}:${ref}`);
  const command = ['push', '--porcelain', '--no-verify', ...leases];
  // Exit code 1: the remote refused.
  const call = { url, command, refs, answers: [1], ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const pushed = await reachRemote(own, call);
  if (!pushed.ok) return pushed;
  if (pushed.value.code === 0) return { ok: true, value: 'pushed' };
  return explainRefusal(push, pushed.value);
}

/** Reads the remote's refs again, because a remote reports a lost race in several ways. */
async function explainRefusal({ url, updates }: RefPush, output: GitOutput): Promise<GitResult<PushResult>> {
  const leased = updates.filter(({ lease }) => lease !== undefined);
  if (leased.length > 0) {
    const now = await listRemote(
      url,
      leased.map(({ ref }) => ref),
    );
    if (!now.ok) return now;
    const at = (ref: string): string | null => now.value.get(ref) ?? null;
    if (leased.length === updates.length && leased.every(({ ref, sha }) => at(ref) === sha))
      return { ok: true, value: 'pushed' };
    if (leased.some(({ ref, sha, lease }) => at(ref) !== lease && at(ref) !== sha)) return { ok: true, value: 'moved' };
  }
  const names = updates.map(({ ref }) => ref).join(', ');
  const message = `the git remote refuses ${names}: ${hideCredentials(reasonIn(output))}`;
  return gitFailure(
    'git/push-rejected',
    message,
    'Check the rights of this login, and the hooks and rules of the remote.',
  );
}

function reasonIn({ stdout, stderr }: GitOutput): string {
  const refused = stdout.split('\n').filter((line) => line.startsWith('!'));
  const reported = stderr.split('\n').filter((line) => /^(?:remote|error|fatal): \S/.test(line));
  const reasons = refused.map((line) => line.split('\t').at(-1) ?? '');
  return [...reasons, ...(reported.length > 0 ? reported : [stderr])].join('; ').trim().slice(0, 1000);
}
