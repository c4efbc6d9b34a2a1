import type { Answer } from '../answer.ts';
import { findOwnSession, saveOwnClaim, listOwnClaims, type OwnClaim } from './own-session.ts';

/** From where somebody calls. */
interface ClaimContext {
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** As the client names it, where it does. */
  readonly conversation: string | undefined;
}

/**
 * The token of the claim that a call in somebody's own session means: of the task or the agent that it names, else of the newest claim.
 * Undefined where it is about nothing that was claimed in that session: then whoever calls speaks for themselves.
 */
export function findOwnToken(
  { stateDir, env, conversation }: ClaimContext,
  operation: string,
  body: string,
): string | undefined {
  if (!CLAIM_OPERATIONS.has(operation)) return undefined;
  const session = findOwnSession(stateDir, env, conversation);
  const claims = session === undefined ? [] : listOwnClaims(session);
  if (claims.length === 0) return undefined;
  const { task_id, agent_id } = parseFields(body);
  if (typeof task_id === 'string') return claims.findLast((claim) => claim.task_id === task_id)?.token;
  if (typeof agent_id === 'string') return claims.findLast((claim) => claim.session_id === agent_id)?.token;
  return claims.at(-1)?.token;
}

/** A claim that was made in somebody's own session is theirs from now on, whichever way they speak. */
export function saveGrantedClaim({ stateDir, env, conversation }: ClaimContext, answer: Answer): void {
  const session = answer.ok ? findOwnSession(stateDir, env, conversation) : undefined;
  if (session === undefined || !answer.ok) return;
  const claim = parseOwnClaim(answer.result);
  if (claim !== undefined) saveOwnClaim(session, claim);
}

/** The claim that an answer to `task_claim` gives. */
export function parseOwnClaim(result: unknown, by_hook = false): OwnClaim | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const { task_id, session_id, token }: { task_id?: unknown; session_id?: unknown; token?: unknown } = result;
  if (typeof task_id !== 'string' || typeof session_id !== 'string' || typeof token !== 'string') return undefined;
  return { task_id, session_id, token, by_hook };
}

/** What the holder of a claim says under it. */
const CLAIM_OPERATIONS: ReadonlySet<string> = new Set([
  'agent_signal',
  'exit_signal',
  'handoff_send',
  'mission_get',
  'result_submit',
  'task_complete',
  'task_heartbeat',
  'task_release',
  'task_update',
  'task_worktree',
  'thought_record',
]);

function parseFields(body: string): Readonly<Record<string, unknown>> {
  try {
    const fields: unknown = JSON.parse(body);
    return typeof fields === 'object' && fields !== null ? { ...fields } : {};
  } catch {
    return {};
  }
}
