import { statSync } from 'node:fs';
import type { Client } from '../../api/client.ts';
import { hasEnded } from '../../api/process-identity.ts';
import {
  forgetOwnSession,
  keepOwnClaim,
  listOwnClaims,
  listOwnSessions,
  type OwnSession,
} from '../../api/own-session.ts';
import { releaseHookClaims } from './end.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Sessions whose client was killed, or whose machine went down, could not say that they end. A conversation that goes on takes up what it
 * held; what a hook had claimed for another is given back. What somebody claimed themselves runs out by itself, unless they come back.
 */
export async function settleOthers(client: Client, stateDir: string, session: OwnSession): Promise<void> {
  for (const other of listOwnSessions(stateDir)) {
    if (other.process === session.process || !hasEnded(other.process)) continue;
    if (other.conversation === session.conversation && session.conversation !== '') {
      for (const claim of listOwnClaims(other)) keepOwnClaim(session, claim);
      forgetOwnSession(other);
      continue;
    }
    await releaseHookClaims(client, other, 'the session ended without a word');
    if (listOwnClaims(other).length === 0 || isOld(other)) forgetOwnSession(other);
  }
}

function isOld({ folder }: OwnSession): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found === undefined || Date.now() - found.mtimeMs > DAY_MS;
}
