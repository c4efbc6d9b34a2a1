import type { Client } from '../../api/client/client.ts';
import {
  findOwnSession,
  listOwnClaims,
  type OwnSession,
  removeOwnClaim,
  removeOwnSession,
} from '../../api/client/own-session.ts';
import { connectAsWorker, type HookCall, type HookOutput } from './hook-call.ts';

/**
 * Releases only the claims that the hook made. The user's own claims last until the lease expires, because the user may
 * resume.
 */
export async function endSession(call: HookCall): Promise<HookOutput> {
  const session = findOwnSession(call.stateDir, call.env, call.input.conversation || undefined);
  // The process continues with another conversation and keeps its claims.
  if (session === undefined || call.input.reason === 'clear' || call.input.reason === 'resume') return {};
  const client = connectAsWorker(call, { autostart: false, reachMs: 1000 });
  try {
    await releaseHookClaims(client, session, 'the session ended');
  } finally {
    client.close();
  }
  if (listOwnClaims(session).length === 0) removeOwnSession(session);
  return {};
}

/** If the daemon does not answer, the release waits in the outbox. */
export async function releaseHookClaims(client: Client, session: OwnSession, reason: string): Promise<void> {
  for (const claim of listOwnClaims(session).filter(({ by_hook }) => by_hook)) {
    await client.call('task_release', { task_id: claim.task_id, reason }, { token: claim.token });
    removeOwnClaim(session, claim);
  }
}
