import { endClaim, phaseMovedEvent } from '../state/tasks/end-claim.ts';
import { type Event, type EventOf, type HowClaimEnded } from '../state/event.ts';
import { describeMissing, findMissingMessages } from '../state/tasks/owed.ts';
import { agentsOfClaim } from '../state/runs/find-run.ts';
import { excerptStart } from '../state/runs/excerpt.ts';
import type { RunOutcome, TaskRef } from '../state/runs/run-event.ts';
import type { EngineContext } from './context.ts';

/**
 * The run that a claim was taken for is over. Without an exit signal the claim ends with it, and the task is blocked: a worker that took it
 * up again at once would only fail again, or do the same work for ever. The reason names what the session did not send.
 */
export function endClaimOfRun(
  { state }: EngineContext,
  ref: TaskRef | null,
  outcome: RunOutcome,
  what: string,
  reason: string | null,
): Event[] {
  const task = ref === null ? undefined : state.tasks.get(ref.task_id);
  if (ref === null || task === undefined || task.claim?.sessionId !== ref.session_id) return [];
  if (agentsOfClaim(state, ref.session_id).length > 0) return [];
  const why = reason === null ? '' : `: ${excerptStart(reason, 1000)}`;
  const how = outcome === 'done' ? `${what} ended without an exit signal` : `${what} ${outcome}${why}`;
  const missing = outcome === 'cancelled' ? '' : describeMissing(findMissingMessages(task, task.claim, false));
  const words = missing === '' ? how : `${how}; ${missing}`;
  const ended = endClaim(task, task.claim, CLAIM_END_BY_OUTCOME[outcome], words);
  return task.phase === 'COMPLETED'
    ? ended
    : [...ended, phaseMovedEvent(task, 'BLOCKED', { cause: 'run-ended', reason: words })];
}

/** A person who cancels a run takes its task away; the others end by themselves. */
const CLAIM_END_BY_OUTCOME = { done: 'released', failed: 'failed', cancelled: 'revoked' } as const satisfies Record<
  RunOutcome,
  HowClaimEnded
>;

/** How a run ends when its claim does, other than by its own end. */
export function outcomeOfClaim(type: ClaimEndType, { reason }: EventOf<ClaimEndType>['data']) {
  const how = OUTCOME_BY_CLAIM_END[type];
  const why = reason === null ? '' : `: ${excerptStart(reason, 1000)}`;
  if (how === 'completed') return { how, outcome: 'done', reason } as const;
  const words = how === 'blocked' || how === 'failed' ? how : `lost (${how})`;
  return { how, outcome: 'failed', reason: `the claim was ${words}${why}` } as const;
}

const OUTCOME_BY_CLAIM_END = {
  ClaimCompleted: 'completed',
  ClaimBlocked: 'blocked',
  ClaimFailed: 'failed',
  ClaimReleased: 'released',
  ClaimExpired: 'expired',
  ClaimRevoked: 'revoked',
} as const satisfies Record<string, HowClaimEnded>;

export type ClaimEndType = keyof typeof OUTCOME_BY_CLAIM_END;
