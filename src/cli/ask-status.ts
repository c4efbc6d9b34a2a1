import type { Answer } from '../api/answer.ts';
import { createClient } from '../api/client/connect.ts';
import { clientOptions } from './ask.ts';
import type { ParsedArguments, Io } from './command.ts';

/**
 * Asks for the status once. An answer about the present is worth nothing if it comes late: a daemon that accepts the connection has a few seconds.
 * Starting a daemon where none runs may take longer.
 */
export async function readStatus(given: ParsedArguments, io: Io): Promise<Answer> {
  const client = createClient({ ...clientOptions(given, io), answerMs: statusTimeoutMs(io) });
  try {
    const unreached = await client.reach();
    if (unreached !== undefined) return { ok: false, error: unreached };
    const answer = await client.call('status_get', {});
    if (answer.ok || answer.error.code !== 'no-answer') return answer;
    const { ok } = await client.health({ timeoutMs: HEALTH_MS });
    return ok ? busyAnswer(statusTimeoutMs(io)) : answer;
  } finally {
    client.close();
  }
}

/** How long the daemon may take for each answer about the present: BATON_ANSWER_MS, or five seconds. */
export function statusTimeoutMs({ env }: Pick<Io, 'env'>): number {
  const ms = Number(env['BATON_ANSWER_MS']);
  return ms > 0 ? ms : 5000;
}

const HEALTH_MS = 1000;

function busyAnswer(ms: number): Answer {
  const message = `the daemon runs, but has not reported on this project within ${ms / 1000} s`;
  const hint =
    'It may be opening a large project, or its ledger may be locked: see daemon.log in the state folder. Then: baton status';
  return { ok: false, error: { code: 'project-busy', message, hint } };
}
