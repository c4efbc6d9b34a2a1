import { isAncestor } from '../../git/commits.ts';
import { advanceBranch } from '../../git/merge/advance-branch.ts';
import type { OwnRepository } from '../../git/own/own-repository.ts';
import { findSha } from '../../git/repository.ts';
import type { RecordedEvent } from '../../state/event.ts';
import { findSharedRemote } from '../../state/fleet/fleet.ts';
import { findMain } from '../../state/main/main-branch.ts';
import type { EffectContext } from '../context.ts';

type FollowContext = Pick<EffectContext, 'ownRepository' | 'readState' | 'log' | 'here'>;

/** In a fleet, moves each host's main branch after every merge. */
export async function followMerges(recorded: readonly RecordedEvent[], context: FollowContext): Promise<void> {
  const last = recorded.findLast(({ type, data }) => type === 'MergeFinished' && data.outcome === 'merged');
  if (last?.type !== 'MergeFinished' || last.data.merge_sha === null || context.here() === undefined) return;
  const sha = last.data.merge_sha;
  const branch = await context.readState((state) =>
    findSharedRemote(state) ? (findMain(state)?.branch ?? null) : null,
  );
  if (!branch) return;
  const own = await context.ownRepository.with(sha);
  if (own.ok) await fastForwardMain(own.value, branch, sha, context);
  else context.log.info('the merged commit cannot be fetched', { sha, reason: own.problem.message });
}

/** Fast-forwards the local main branch and its checkout. Conflicting uncommitted work is kept. */
export async function fastForwardMain(
  own: OwnRepository,
  branch: string,
  to: string,
  { log }: Pick<EffectContext, 'log'>,
): Promise<void> {
  const from = await findSha(own.source.path, `refs/heads/${branch}`);
  if (from === null || from === to) return;
  const isBehind = await isAncestor(own, from, to);
  const moved = isBehind.ok && isBehind.value ? await advanceBranch(own, { branch, from, to }) : undefined;
  if (moved?.ok === true) return;
  const reason = moved?.problem.message ?? 'it has commits of its own';
  log.info('the main branch here does not follow the remote’s', { branch, reason });
}
