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
 * Releases the tasks that the hook claimed for the session. Tasks that the person claimed stay claimed until the lease
 * expires, since a conversation can be resumed.
 */
export async function endSession(call: HookCall): Promise<HookOutput> {
  const session = findOwnSession(call.stateDir, call.env, call.input.conversation || undefined);
  // The same process continues with another conversation and keeps its claims.
  if (session === undefined || GOES_ON.has(call.input.reason)) return {};
  const client = connectAsWorker(call, { autostart: false, reachMs: 1000 });
  try {
    await releaseHookClaims(client, session, 'the session ended');
  } finally {
    client.close();
  }
  if (listOwnClaims(session).length === 0) removeOwnSession(session);
  return {};
}

const GOES_ON: ReadonlySet<string> = new Set(['clear', 'resume']);

/** If the daemon is away, the release waits in the outbox. */
export async function releaseHookClaims(client: Client, session: OwnSession, reason: string): Promise<void> {
  for (const claim of listOwnClaims(session).filter(({ by_hook }) => by_hook)) {
    await client.call('task_release', { task_id: claim.task_id, reason }, { token: claim.token });
    removeOwnClaim(session, claim);
  }
}
