import { endClaim, moveTo } from '../state/end-claim.ts';
import { type Event, type EventOf, type HowClaimEnded } from '../state/event.ts';
import { agentsUnder } from '../state/runs/find-run.ts';
import { firstOf } from '../state/runs/last-of.ts';
import type { RunOutcome, TaskRef } from '../state/runs/run-event.ts';
import type { World } from './world.ts';

/**
 * The run that a claim was taken for is over. Where nobody sent an exit signal the claim ends with it, and the task is blocked: a
 * worker that took it up again at once would only fail again, or do the same work for ever.
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
  const words = outcome === 'done' ? `${what} ended without an exit signal` : `${what} ${outcome}${why}`;
  const ended = endClaim(task, task.claim, outcome === 'failed' ? 'failed' : 'released', words);
  return task.phase === 'COMPLETED' ? ended : [...ended, moveTo(task, 'BLOCKED', words)];
}

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
