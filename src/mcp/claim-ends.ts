import type { Answer } from '../api/answer.ts';

/** Whether a call, where it succeeds, ends the claim that it is made under. */
export function mayEndClaim(operation: string, input: unknown): boolean {
  const fields: { status?: unknown; kind?: unknown } = typeof input === 'object' && input !== null ? input : {};
  switch (operation) {
    case 'task_release':
    case 'task_complete':
    case 'exit_signal':
      return true;
    case 'task_update':
      return fields.status !== 'in_progress';
    case 'thought_record':
      return fields.status === 'todo';
    case 'agent_signal':
      return fields.kind !== 'continue';
    default:
      return false;
  }
}

/** Whether an answer says that the claim has ended already. */
export function isClaimOver(answer: Answer): boolean {
  return !answer.ok && CLAIM_OVER_CODES.has(answer.error.code);
}

const CLAIM_OVER_CODES: ReadonlySet<string> = new Set(['claim-ended', 'stale-claim', 'no-active-phase']);

/** What to do when a claim has ended, for a model that has only its tools. */
export function addClaimEndHint(answer: Answer, speaksFor: string | undefined): Answer {
  if (answer.ok || !isClaimOver(answer)) return answer;
  const now =
    speaksFor === undefined
      ? 'Find other work with task_next_actions, and claim it with task_claim.'
      : `Calls that name no task now speak for ${speaksFor}, which you also claimed.`;
  return { ok: false, error: { ...answer.error, hint: `Stop working on this task. ${now}` } };
}

/** The reason of a release, where the caller gave up before the answer reached it. */
export const CANCELLED_REASON = 'whoever asked for the claim went away before hearing of it';
