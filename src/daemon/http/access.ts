import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiError } from '../../api/answer.ts';
import { findBearerToken, isLoopbackHost } from '../../api/http/request.ts';
import { consumePass, PASS_HEADER } from '../../api/operator-pass.ts';
import { readProcessTable } from '../../api/processes.ts';
import { belowSessionError, SessionFinder } from '../../api/session-above.ts';
import { isShortage } from '../../protocol/resource-faults.ts';
import type { AccessTokens, CallerIdentity } from '../tokens.ts';
import { findPeerSession } from './peer-session.ts';
import { BAD_KEY } from '../pages/page-refusals.ts';
import type { PageAccess } from '../pages/page-access.ts';
import { findForeignName, findPageCaller, findPageKeyId, type Listener, type PageCaller } from './page-caller.ts';
import { BAD_HOST, BAD_ORIGIN, BAD_TOKEN, type Refusal, refusal } from './refusals.ts';

export type AccessResult =
  | {
      readonly ok: true;
      readonly identity: CallerIdentity;
      /** Set for a page. Its signature is checked together with the body, before anything else happens. */
      readonly page?: PageCaller;
    }
  | Refusal;

export interface AccessChecks {
  readonly tokens: AccessTokens;
  readonly guard: SessionGuard;
  /** Absent if no page is served. */
  readonly pages?: PageAccess;
}

/**
 * Host and Origin are checked before the token, because a rebound web page must not learn whether its token is valid.
 */
export function checkAccess(
  request: IncomingMessage,
  listener: Listener,
  { tokens, guard, pages }: AccessChecks,
): AccessResult {
  const { headers, socket } = request;
  const { port } = listener;
  if (port !== undefined && !isLoopbackHost(headers)) return BAD_HOST;
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin, port)) return BAD_ORIGIN;
  if (headers.authorization === undefined) return NO_TOKEN;
  const isPage = findPageKeyId(headers) !== undefined;
  const foreign = isPage ? findForeignName(headers, port) : undefined;
  if (foreign !== undefined) return foreign;
  const page = pages && findPageCaller(request, listener, pages);
  if (isPage && page === undefined) return BAD_KEY;
  const identity = page === undefined ? tokens.identify(findBearerToken(headers) ?? '') : tokens.ofPage(page.key.id);
  if (identity === undefined) return BAD_TOKEN;
  const error = guard.findRefusal(identity, socket, headers);
  if (error !== undefined) return { ok: false, error };
  return page === undefined ? { ok: true, identity } : { ok: true, identity, page };
}

export function isAddressedToDaemon({ headers }: Pick<IncomingMessage, 'headers'>, { port }: Listener): boolean {
  return port !== undefined && isLoopbackHost(headers);
}

export function isOwnOrigin(origin: string, port: number | undefined): boolean {
  return port !== undefined && ['127.0.0.1', 'localhost', '[::1]'].some((host) => origin === `http://${host}:${port}`);
}

const NO_TOKEN = refusal(
  'no-token',
  'a token is needed',
  'Send the header `Authorization: Bearer TOKEN`. See: baton docs api',
);

/**
 * Prevents processes inside a session from acting as operator or worker, whatever token they hold. Checks once per
 * connection, and only for those tokens, so sessions, hooks and supervisors have no overhead.
 */
export class SessionGuard {
  readonly #stateDir: string;
  readonly #judged = new WeakMap<Socket, ApiError | 'outside'>();

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
  }

  findRefusal({ caller }: CallerIdentity, socket: Socket, headers: IncomingHttpHeaders = {}): ApiError | undefined {
    if (caller.kind !== 'operator' && caller.kind !== 'worker') return undefined;
    try {
      const judged = this.#judged.get(socket) ?? this.#judge(socket, headers);
      return judged === 'outside' ? undefined : judged;
    } catch (error) {
      // Without a free descriptor the peer cannot be inspected, so the request is refused and may be repeated.
      if (!isShortage(error)) throw error;
      return OUT_OF_DESCRIPTORS;
    }
  }

  #judge(socket: Socket, headers: IncomingHttpHeaders): ApiError | 'outside' {
    const pass = headers[PASS_HEADER];
    const isUnix = socket.remotePort === undefined;
    // Not cached, because a later request on this connection may carry a pass.
    if (isUnix && typeof pass !== 'string') return NO_PASS;
    const judgement = isUnix ? this.#judgePass(String(pass)) : this.#judgePeer(socket);
    this.#judged.set(socket, judgement);
    return judgement;
  }

  #judgePass(name: string): ApiError | 'outside' {
    const holder = consumePass(this.#stateDir, name);
    if (holder === undefined) return BAD_PASS;
    const above = new SessionFinder(this.#stateDir, readProcessTable()).find(holder.pid);
    return above === undefined ? 'outside' : belowSessionError(above);
  }

  #judgePeer({ remoteAddress, remotePort, localAddress, localPort }: Socket): ApiError | 'outside' {
    if (remoteAddress === undefined || remotePort === undefined || localAddress === undefined) return CALLER_GONE;
    const ends = { remoteAddress, remotePort, localAddress, localPort: localPort ?? 0 };
    const found = findPeerSession(this.#stateDir, ends);
    if (found === 'gone') return CALLER_GONE;
    return found === undefined ? 'outside' : belowSessionError(found);
  }
}

const NO_PASS: ApiError = {
  code: 'no-pass',
  message: 'a call as operator or worker over the Unix socket needs a pass',
  hint: 'Use the baton command or batonctl/client; other programs use the port in daemon.json. See: baton docs api',
};

const BAD_PASS: ApiError = {
  code: 'bad-pass',
  message: 'the pass was not made by a living process a moment ago',
  hint: 'A pass is valid for one connection: make a new one. See: baton docs api',
};

const CALLER_GONE: ApiError = {
  code: 'bad-pass',
  message: 'the process at the other end of the connection has exited',
  hint: 'Keep the connection open until the response arrives.',
};

const OUT_OF_DESCRIPTORS: ApiError = {
  code: 'rate-limited',
  message: 'the daemon has no free descriptor to inspect the calling process',
  hint: 'Try again in a moment, or raise the limit on open files before the daemon starts: ulimit -n',
};
