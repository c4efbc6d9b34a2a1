import { endClaim, moveTo } from '../state/end-claim.ts';
import { type Event, type EventOf, type HowClaimEnded } from '../state/event.ts';
import { describeMissing, findOwed } from '../state/owed.ts';
import { agentsUnder } from '../state/runs/find-run.ts';
import { firstOf } from '../state/runs/last-of.ts';
import type { RunOutcome, TaskRef } from '../state/runs/run-event.ts';
import type { World } from './world.ts';

/**
 * The run that a claim was taken for is over. Without an exit signal the claim ends with it, and the task is blocked: a worker that took it
 * up again at once would only fail again, or do the same work for ever. The reason names what the session did not send.
 */
export function followClaim(
  { state }: World,
  ref: TaskRef | null,
  outcome: RunOutcome,
  what: string,
  reason: string | null,
): Event[] {
  const task = ref === null ? undefined : state.tasks.get(ref.task_id);
  if (ref === null || task === undefined || task.claim?.sessionId !== ref.session_id) return [];
  if (agentsUnder(state, ref.session_id).length > 0) return [];
  const why = reason === null ? '' : `: ${firstOf(reason, 1000)}`;
  const how = outcome === 'done' ? `${what} ended without an exit signal` : `${what} ${outcome}${why}`;
  const missing = outcome === 'cancelled' ? '' : describeMissing(findOwed(task, task.claim, false));
  const words = missing === '' ? how : `${how}; ${missing}`;
  const ended = endClaim(task, task.claim, HOW_IT_ENDS[outcome], words);
  return task.phase === 'COMPLETED'
    ? ended
    : [...ended, moveTo(task, 'BLOCKED', { cause: 'run-ended', reason: words })];
}

/** A person who cancels a run takes its task away; the others end by themselves. */
const HOW_IT_ENDS = { done: 'released', failed: 'failed', cancelled: 'revoked' } as const satisfies Record<
  RunOutcome,
  HowClaimEnded
>;

/** How a run ends when its claim does, other than by its own end. */
export function outcomeOfClaim(type: ClaimEndType, { reason }: EventOf<ClaimEndType>['data']) {
  const how = HOW[type];
  const why = reason === null ? '' : `: ${firstOf(reason, 1000)}`;
  if (how === 'completed') return { how, outcome: 'done', reason } as const;
  const words = how === 'blocked' || how === 'failed' ? how : `lost (${how})`;
  return { how, outcome: 'failed', reason: `the claim was ${words}${why}` } as const;
}

const HOW = {
  ClaimCompleted: 'completed',
  ClaimBlocked: 'blocked',
  ClaimFailed: 'failed',
  ClaimReleased: 'released',
  ClaimExpired: 'expired',
  ClaimRevoked: 'revoked',
} as const satisfies Record<string, HowClaimEnded>;

export type ClaimEndType = keyof typeof HOW;
