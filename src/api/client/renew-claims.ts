import type { Client } from './client.ts';
import { findSessionsAround, removeOwnClaim, listOwnClaims } from './own-session.ts';

/**
 * Renews the claims of a person's own session. The caller is a process that lives as long as the client. Claims that
 * have ended are removed.
 */
export function renewOwnClaims(
  client: Pick<Client, 'call'>,
  stateDir: string,
  env: Readonly<Record<string, string | undefined>>,
  everyMs: number = EVERY_MS,
): { readonly stop: () => void } {
  const renew = async (): Promise<void> => {
    for (const session of findSessionsAround(stateDir, env)) {
      for (const claim of listOwnClaims(session)) {
        const answer = await client.call('task_heartbeat', {}, { token: claim.token });
        if (!answer.ok && CLAIM_OVER_CODES.has(answer.error.code)) removeOwnClaim(session, claim);
      }
    }
  };
  const timer = setInterval(() => void renew(), everyMs).unref();
  return { stop: () => clearInterval(timer) };
}

export const CLAIM_OVER_CODES: ReadonlySet<string> = new Set([
  'claim-ended',
  'stale-claim',
  'bad-token',
  'no-such-project',
]);

const EVERY_MS = 60_000;
