import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiError } from '../../api/answer.ts';
import { belowSessionError } from '../../api/below-session.ts';
import { SessionFinder } from '../../api/session-above.ts';
import { PASS_HEADER, consumePass } from '../../api/operator-pass.ts';
import { readProcessTable } from '../../api/process-table.ts';
import { isShortage } from '../../protocol/shortage.ts';
import { findPeerSession } from './peer-session.ts';
import type { CallerIdentity } from '../tokens.ts';

/**
 * Keeps processes inside a session from acting as the operator or as a worker, whatever token they have got hold of. It looks once per
 * connection, and only if such a token is presented: sessions, hooks and supervisors pay nothing for it.
 */
export class SessionGuard {
  readonly #stateDir: string;
  readonly #judged = new WeakMap<Socket, ApiError | 'outside'>();

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
  }

  /** Why the other end of a connection may not act under this identity; undefined if it may. */
  findRefusal({ caller }: CallerIdentity, socket: Socket, headers: IncomingHttpHeaders = {}): ApiError | undefined {
    if (caller.kind !== 'operator' && caller.kind !== 'worker') return undefined;
    const judged = this.#judged.get(socket) ?? this.#tryJudge(socket, headers);
    return judged === 'outside' ? undefined : judged;
  }

  /** Without descriptors the process cannot be looked at: it is not let in, and may ask again. */
  #tryJudge(socket: Socket, headers: IncomingHttpHeaders): ApiError | 'outside' {
    try {
      return this.#judge(socket, headers);
    } catch (error) {
      if (!isShortage(error)) throw error;
      return OUT_OF_DESCRIPTORS;
    }
  }

  #judge(socket: Socket, headers: IncomingHttpHeaders): ApiError | 'outside' {
    const pass = headers[PASS_HEADER];
    const isUnix = socket.remotePort === undefined;
    // A later request on this connection may bring one.
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
  hint: 'Use the baton command or baton/client; other programs use the port in daemon.json. See docs/api.md.',
};

const BAD_PASS: ApiError = {
  code: 'bad-pass',
  message: 'the pass is not one that a living process made a moment ago',
  hint: 'A pass is good for one connection: make a new one. See docs/api.md.',
};

const CALLER_GONE: ApiError = {
  code: 'bad-pass',
  message: 'the process at the other end of the connection has gone',
  hint: 'Keep the connection open until the answer has come.',
};

const OUT_OF_DESCRIPTORS: ApiError = {
  code: 'rate-limited',
  message: 'the daemon has no descriptor left to look at the process that asks',
  hint: 'Try again in a moment, or raise the limit on open files before the daemon starts: ulimit -n',
};
