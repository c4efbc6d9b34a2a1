import type { IncomingMessage } from 'node:http';
import type { ApiError } from '../../api/answer.ts';
import type { SessionGuard } from './session-guard.ts';
import type { CallerIdentity, AccessTokens } from '../tokens.ts';

/** Through which of the two doors a request came: a Unix socket has no port. */
export interface Listener {
  readonly port: number | undefined;
}

export type AccessResult =
  | { readonly ok: true; readonly identity: CallerIdentity }
  | { readonly ok: false; readonly error: ApiError };

export interface AccessChecks {
  readonly tokens: AccessTokens;
  readonly guard: SessionGuard;
}

/**
 * Who asks, or why they may not. Host and Origin come before the token: a page in a browser, led here by a name that
 * resolves to this machine, must not even learn whether its token is right.
 */
export function checkAccess(
  request: IncomingMessage,
  { port }: Listener,
  { tokens, guard }: AccessChecks,
): AccessResult {
  const { headers, socket } = request;
  if (port !== undefined && !isLocal(headers.host)) return { ok: false, error: BAD_HOST };
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin, port)) return { ok: false, error: BAD_ORIGIN };
  const { authorization } = headers;
  if (authorization === undefined) return { ok: false, error: NO_TOKEN };
  const identity = authorization.startsWith('Bearer ') ? tokens.identify(authorization.slice(7).trim()) : undefined;
  if (identity === undefined) return { ok: false, error: BAD_TOKEN };
  const error = guard.findRefusal(identity, socket, headers);
  return error === undefined ? { ok: true, identity } : { ok: false, error };
}

/** Whether a request for what needs no token came to the right door under a name of this machine. */
export function isAddressedToDaemon({ headers }: Pick<IncomingMessage, 'headers'>, { port }: Listener): boolean {
  return port !== undefined && isLocal(headers.host);
}

/** Only names that cannot be made to resolve to somebody else; the port may be that of a proxy on this machine. */
function isLocal(host: string | undefined): boolean {
  return host !== undefined && /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i.test(host);
}

function isOwnOrigin(origin: string, port: number | undefined): boolean {
  return port !== undefined && OWN_HOSTS.some((host) => origin === `http://${host}:${port}`);
}

const OWN_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];

const BAD_HOST: ApiError = {
  code: 'bad-host',
  message: 'the Host header does not name this machine',
  hint: 'Use 127.0.0.1 or localhost.',
};
const BAD_ORIGIN: ApiError = {
  code: 'bad-origin',
  message: 'the Origin header is not the daemon itself',
  hint: "Only the daemon's own page may ask from a browser.",
};
const NO_TOKEN: ApiError = {
  code: 'no-token',
  message: 'a token is needed',
  hint: 'Send the header `Authorization: Bearer TOKEN`. See docs/api.md.',
};
const BAD_TOKEN: ApiError = {
  code: 'bad-token',
  message: 'the token is not one of this daemon',
  hint: 'Check BATON_TOKEN and BATON_STATE_DIR: tokens of one state folder are strangers in another.',
};
