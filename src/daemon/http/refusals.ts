import type { ApiError } from '../../api/answer.ts';
import { SERVER_LIMITS } from '../limits.ts';

export interface Refusal {
  readonly ok: false;
  readonly error: ApiError;
}

export function refusal(code: string, message: string, hint = 'See: baton docs api'): Refusal {
  return { ok: false, error: { code, message, hint } };
}

/** The cause is only in the log, because callers must not see it. */
export const INTERNAL_ERROR: ApiError = {
  code: 'internal',
  message: 'internal error in the daemon',
  hint: 'This is a bug in Baton. See daemon.log in the state folder.',
};
export const DAEMON_STOPPING = refusal('stopping', 'the daemon is stopping', 'Try again in a moment.');
export const TOO_MANY_REQUESTS = refusal('rate-limited', 'too many requests at once', 'Wait for some responses first.');
export const TOO_MANY_CONNECTIONS = refusal(
  'rate-limited',
  'too many connections at once',
  'Close some, or raise the limit on open files before the daemon starts: ulimit -n',
);
export const BAD_TOKEN = refusal(
  'bad-token',
  'the token is not one of this daemon',
  'Check BATON_TOKEN and BATON_STATE_DIR: a token is valid for one state folder only.',
);
export const BAD_HOST = refusal(
  'bad-host',
  'the Host header does not name this machine',
  'Use 127.0.0.1 or localhost.',
);
export const BAD_ORIGIN = refusal(
  'bad-origin',
  'the Origin header does not name the daemon',
  "In a browser, only the daemon's own page may send requests.",
);
export const BAD_PATH = refusal('bad-request', 'baton-project-path is not percent-encoded');

export function isIdempotencyKey(key: unknown): key is string {
  return typeof key === 'string' && key.length <= SERVER_LIMITS.idempotencyKeyLength && /^[\x21-\x7e]+$/.test(key);
}
