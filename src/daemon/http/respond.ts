import type { ServerResponse } from 'node:http';
import { ERROR_STATUS, type Answer, type ApiError } from '../../api/answer.ts';

/** Sends an answer in one piece, with the status that its code stands for. */
export function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  options: { readonly closes?: boolean } = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const status = answer.ok ? 200 : (ERROR_STATUS[answer.error.code] ?? 409);
  const text = JSON.stringify(answer);
  const headers = [
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    String(Buffer.byteLength(text)),
    'cache-control',
    'no-store',
    'x-content-type-options',
    'nosniff',
  ];
  if (status === 401) headers.push('www-authenticate', 'Bearer');
  if (options.closes === true) headers.push('connection', 'close');
  response.writeHead(status, headers);
  response.end(text);
}

/** What went wrong inside is for the log, not for callers. */
export const INTERNAL_ERROR: ApiError = {
  code: 'internal',
  message: 'something went wrong inside the daemon',
  hint: 'This is a mistake in Baton; daemon.log in the state folder says more.',
};

export const DAEMON_STOPPING = {
  ok: false,
  error: { code: 'stopping', message: 'the daemon is stopping', hint: 'Try again in a moment.' },
} as const;

export const TOO_MANY_REQUESTS = {
  ok: false,
  error: { code: 'rate-limited', message: 'too many requests at once', hint: 'Wait for some answers first.' },
} as const;

export const TOO_MANY_CONNECTIONS = {
  ok: false,
  error: {
    code: 'rate-limited',
    message: 'too many connections at once',
    hint: 'Close some, or raise the limit on open files before the daemon starts: ulimit -n',
  },
} as const;
