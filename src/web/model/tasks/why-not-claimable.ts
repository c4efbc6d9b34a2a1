import type { TaskDetails } from '../../../api/operations/tasks.ts';

type Details = Pick<
  TaskDetails,
  'claimable' | 'claim' | 'status' | 'phase' | 'blocked_because' | 'waits_for' | 'decision_ids'
>;

/** Returns why a task cannot be claimed now; undefined if it can. The daemon decides; this only names the reason. */
export function whyNotClaimable(task: Details): string | undefined {
  const { claimable, claim, status, phase, blocked_because: because, waits_for: waits } = task;
  if (claimable) return undefined;
  if (claim !== null) return `${claim.holder} has claimed it`;
  if (status === 'done') return 'it is done';
  if (status === 'cancelled') return because ?? 'it is cancelled';
  if (status === 'blocked') return because === null ? 'it is blocked' : `it is blocked: ${because}`;
  if (task.decision_ids.length > 0) return 'it waits for a person';
  if (waits.length > 0) return `it waits for ${waits.map(({ task_id }) => task_id).join(', ')}`;
  if (phase === 'CI_PENDING') return 'its checks have not passed yet';
  return phase === 'READY_FOR_MERGE' ? 'it is being merged' : `it is in ${phase}`;
}
