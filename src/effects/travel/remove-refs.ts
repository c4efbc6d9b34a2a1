import { listRemote } from '../../git/remote/list-remote.ts';
import { pushRefs } from '../../git/remote/push-ref.ts';
import { findSharedRemote } from '../../state/fleet/fleet.ts';
import type { State } from '../../state/state.ts';
import type { EffectContext } from '../context.ts';
import { taskOfRef, TRAVEL_REFS } from './travel-ref.ts';

type RemoveContext = Pick<EffectContext, 'ownRepository' | 'readState' | 'log'>;

/**
 * Removes the refs of merged tasks from the remote, each only if it is still at the expected commit. Run by the
 * caretaker, best effort: what stays is removed the next time. Returns how many were removed.
 */
export async function removeMergedRefs({ ownRepository, readState, log }: RemoveContext): Promise<number> {
  const url = await readState((state) => findSharedRemote(state));
  if (!url) return 0;
  const listed = await listRemote(url, [`${TRAVEL_REFS}*`]);
  const own = await ownRepository.with();
  if (!listed.ok || !own.ok) return 0;
  const refs = [...listed.value];
  const merged = await readState((state) => refs.filter(([ref]) => isMerged(state, taskOfRef(ref))));
  const some = (merged ?? []).slice(0, MOST_REFS);
  if (some.length === 0) return 0;
  const updates = some.map(([ref, lease]) => ({ ref, sha: null, lease }));
  const removed = await pushRefs(own.value, { url, updates });
  if (removed.ok && removed.value === 'pushed') return updates.length;
  const reason = removed.ok ? 'another host has moved one of them' : removed.problem.message;
  log.info('refs of merged tasks stay at the remote for now', { reason });
  return 0;
}

/** The work is on the main branch, and no session continues it. */
function isMerged({ tasks }: State, taskId: string | undefined): boolean {
  const task = tasks.get(taskId ?? '');
  return task?.phase === 'COMPLETED' && task.flow.mergeSha !== null && task.claim === null;
}

/** How many refs one push removes. */
const MOST_REFS = 200;
