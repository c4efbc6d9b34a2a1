import type { Client } from '../../api/client/client.ts';
import { hasEnded } from '../../api/process-identity.ts';
import { removeOwnSession, listOwnClaims, listOwnSessions, type OwnSession } from '../../api/client/own-session.ts';
import { releaseHookClaims } from './end.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Sessions whose client was killed, or whose machine went down, could not say that they end. What a hook had
 * claimed for them is given back; what somebody claimed themselves runs out by itself, unless they come back to the conversation.
 */
export async function releaseDeadSessions(client: Client, stateDir: string, session: OwnSession): Promise<void> {
  for (const other of listOwnSessions(stateDir)) {
    if (other.folder === session.folder || !hasEnded(other.process)) continue;
    await releaseHookClaims(client, other, 'the session ended without a word');
    if (listOwnClaims(other).length === 0 || isOld(other)) removeOwnSession(other);
  }
}

function isOld({ started }: OwnSession): boolean {
  return Date.now() - started > DAY_MS;
}
