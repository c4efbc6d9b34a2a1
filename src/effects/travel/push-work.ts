import { existsSync } from 'node:fs';
import { findFence } from '../../git/fence/install.ts';
import { makeSnapshot } from '../../git/own/snapshot.ts';
import { pushRefs } from '../../git/remote/push-ref.ts';
import { findSha } from '../../git/repository.ts';
import { findWorktree } from '../../git/worktree/worktree.ts';
import type { EffectContext } from '../context.ts';
import { isNewPosition, type LiveWork, type WorkPosition } from './live-work.ts';
import { travelRef, wipRef } from './travel-ref.ts';

export type PushContext = Pick<EffectContext, 'path' | 'ownRepository'>;

export type PushOutcome =
  /** There is no branch yet, or the remote is up to date. */
  | { readonly kind: 'same'; readonly sha: string | null }
  | ({ readonly kind: 'pushed'; readonly left: readonly string[] } & WorkPosition)
  | { readonly kind: 'failed'; readonly sha: string | null; readonly reason: string };

export interface WorkPush {
  readonly url: string;
  readonly isEnd: boolean;
  readonly timeoutMs: number;
}

/** Pushes the commits and the uncommitted files of a session to the refs of its claim, which only this host writes. */
export async function pushWork(
  work: LiveWork,
  { url, isEnd, timeoutMs }: WorkPush,
  { path, ownRepository }: PushContext,
): Promise<PushOutcome> {
  const { taskId, epoch, branch } = work;
  const worktree = await findPlace(work, path);
  const head = worktree === undefined ? null : await findSha(path, `refs/heads/${branch}`);
  if (head === null) return { kind: 'same', sha: null };
  const own = await ownRepository.with(head);
  if (!own.ok) return { kind: 'failed', sha: head, reason: own.problem.message };
  const taken =
    worktree === null || worktree === undefined ? NOTHING : await makeSnapshot(own.value, { worktree, head });
  const wip = taken.ok ? (taken.value?.sha ?? null) : null;
  if (taken.ok && !isNewPosition(work, { sha: head, wip }, isEnd)) return { kind: 'same', sha: head };
  const updates = [
    { ref: travelRef(taskId, epoch), sha: head },
    ...(wip === null ? [] : [{ ref: wipRef(taskId, epoch), sha: wip }]),
  ];
  const pushed = await pushRefs(own.value, { url, updates, timeoutMs });
  if (!pushed.ok) return { kind: 'failed', sha: head, reason: pushed.problem.message };
  if (!taken.ok) {
    const reason = `the uncommitted files of the worktree cannot be read: ${taken.problem.message}`;
    return { kind: 'failed', sha: head, reason };
  }
  return { kind: 'pushed', sha: head, wip, left: taken.value?.left ?? [] };
}

const NOTHING = { ok: true, value: null } as const;

/**
 * Returns null if the worktree no longer exists. Returns undefined until the session is placed: before that, this
 * host's branch may be from an earlier session, and the recorded work is newer. The fence of a worktree names the claim
 * that owns it.
 */
async function findPlace(
  { taskId, epoch, worktree, branch, isOwed }: LiveWork,
  path: string,
): Promise<string | null | undefined> {
  if (worktree !== null) return existsSync(worktree) ? worktree : null;
  const found = await findWorktree(path, branch);
  const place = found.ok ? found.value : null;
  const isUsable = place !== null && !place.isMain && !place.isBare && !place.isMissing;
  if (isOwed) return isUsable ? place.path : null;
  const fence = isUsable ? await findFence(place.path) : undefined;
  const isOwn = fence?.ok === true && fence.value?.taskId === taskId && fence.value.epoch === epoch;
  return isOwn && isUsable ? place.path : undefined;
}
