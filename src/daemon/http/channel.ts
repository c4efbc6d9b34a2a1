import type { Duplex } from 'node:stream';
import type { Answer, ApiError } from '../../api/answer.ts';
import { FrameReader, renderFrame } from '../../api/client/frames.ts';
import { decodeProjectPath, tooLarge } from '../../api/http/request.ts';
import { OPERATIONS } from '../../api/operations/registry.ts';
import { fieldsOf } from '../../protocol/shape/read-unknown.ts';
import type { IncomingCall } from '../dispatch.ts';
import { SERVER_LIMITS } from '../limits.ts';
import type { AccessTokens, CallerIdentity } from '../tokens.ts';
import type { ActiveCalls } from './connections.ts';
import {
  BAD_PATH,
  BAD_TOKEN,
  DAEMON_STOPPING,
  isIdempotencyKey,
  type Refusal,
  refusal,
  TOO_MANY_REQUESTS,
} from './refusals.ts';

export interface ChannelOptions {
  /** The opener's identity, token and project: the defaults for calls that carry none. */
  readonly identity: CallerIdentity;
  readonly token: string;
  readonly projectPath: string | undefined;
  readonly tokens: AccessTokens;
  /** Returns why this connection may not use the identity of a call's token. */
  readonly refuse: (identity: CallerIdentity) => ApiError | undefined;
  readonly underWay: ActiveCalls;
  readonly isStopping: () => boolean;
  readonly dispatch: (call: IncomingCall) => Promise<Answer>;
}

/**
 * Many calls over one connection, answered in any order; see `api/client/frames.ts`. Rules and limits are the same as
 * over HTTP.
 */
export class OperationChannel {
  readonly #socket: Duplex;
  readonly #options: ChannelOptions;
  readonly #calls = new Map<string, AbortController>();
  readonly #cancelled = new Set<string>();
  readonly #granted = new Map<string, GrantedClaim>();
  #unsent = '';

  private constructor(socket: Duplex, options: ChannelOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  /** Serves a socket until it closes. `head` holds the bytes already received. */
  static serve(socket: Duplex, head: Buffer, options: ChannelOptions): void {
    const channel = new OperationChannel(socket, options);
    const reader = new FrameReader({
      bodyBytes: SERVER_LIMITS.bodyBytes,
      bodyBytesOf: ([, , operation = '']) => OPERATIONS.get(operation)?.maxBytes,
      onFrame: (words, body) => channel.#receive(words, body),
    });
    const receive = (chunk: Buffer): void => {
      if (!reader.push(chunk)) socket.destroy();
    };
    socket.on('data', receive);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => channel.#abandon());
    // A paused socket resumes when the client has read its answers.
    socket.on('drain', () => socket.resume());
    if (head.length > 0) receive(head);
  }

  #receive(words: readonly string[], body: Buffer | undefined): boolean {
    const [verb, id = ''] = words;
    if (!/^\d{1,15}$/.test(id)) return false;
    if (verb === 'cancel') this.#cancel(id);
    else if (verb === 'call' && words.length === CALL_FIELD_COUNT) void this.#call(words, body);
    else return false;
    return true;
  }

  async #call(words: readonly string[], body: Buffer | undefined): Promise<void> {
    const [, id = '', operation = '', key = '', token = '', path = ''] = words;
    const { underWay, dispatch } = this.#options;
    const refusal = this.#findRefusal(id, key, body);
    const identity = this.#identify(token);
    const projectPath = path === '' ? this.#options.projectPath : decodeProjectPath(path);
    if (refusal !== undefined || identity === undefined || projectPath === null || body === undefined) {
      this.#answer(id, refusal ?? (identity === undefined ? BAD_TOKEN : BAD_PATH));
      return;
    }
    const error = token === '' ? undefined : this.#options.refuse(identity);
    if (error !== undefined) {
      this.#answer(id, { ok: false, error });
      return;
    }
    const controller = underWay.enter();
    this.#calls.set(id, controller);
    const callToken = token === '' ? this.#options.token : token;
    const call = { operation, identity, token: callToken, projectPath, body, key, signal: controller.signal };
    const answer = await dispatch(call);
    this.#calls.delete(id);
    underWay.leave(controller);
    if (operation === 'task_claim' && answer.ok) this.#noteGrant(id, answer.result);
    if (this.#cancelled.delete(id)) this.#releaseClaim(id);
    this.#answer(id, answer);
  }

  #findRefusal(id: string, key: string, body: Buffer | undefined): Refusal | undefined {
    const { underWay, isStopping } = this.#options;
    if (isStopping()) return DAEMON_STOPPING;
    if (body === undefined) return { ok: false, error: tooLarge(SERVER_LIMITS.bodyBytes) };
    if (!isIdempotencyKey(key) || this.#calls.has(id))
      return refusal('bad-request', 'a call needs its own number and a valid idempotency key');
    const isBusy = underWay.size >= SERVER_LIMITS.requestsTogether || this.#calls.size >= SERVER_LIMITS.callsPerChannel;
    return isBusy ? TOO_MANY_REQUESTS : undefined;
  }

  #identify(token: string): CallerIdentity | undefined {
    return token === '' ? this.#options.identity : this.#options.tokens.identify(token);
  }

  #cancel(id: string): void {
    const controller = this.#calls.get(id);
    if (controller === undefined) {
      this.#releaseClaim(id);
      return;
    }
    this.#cancelled.add(id);
    controller.abort();
  }

  /**
   * Releases the claim of a cancelled call, which would block the task until it expires. After a lost connection the
   * client may retry.
   */
  #releaseClaim(id: string): void {
    const granted = this.#granted.get(id);
    const identity = granted === undefined ? undefined : this.#options.tokens.identify(granted.token);
    this.#granted.delete(id);
    if (granted === undefined || identity === undefined) return;
    const { task_id, token } = granted;
    const body = Buffer.from(
      JSON.stringify({ task_id, reason: 'the caller disconnected before the claim was granted' }),
    );
    const call = { operation: 'task_release', identity, token, projectPath: undefined, body, key: undefined };
    void this.#options.dispatch(call);
  }

  #noteGrant(id: string, result: unknown): void {
    if (!isGranted(result)) return;
    this.#granted.set(id, result);
    const [oldest] = this.#granted.keys();
    if (this.#granted.size > SERVER_LIMITS.callsPerChannel && oldest !== undefined) this.#granted.delete(oldest);
  }

  #answer(id: string, answer: Answer): void {
    if (this.#unsent === '') process.nextTick(() => this.#flush());
    this.#unsent += renderFrame(`answer ${id}`, JSON.stringify(answer));
  }

  #flush(): void {
    const text = this.#unsent;
    this.#unsent = '';
    if (this.#socket.destroyed) return;
    if (!this.#socket.write(text) && this.#socket.writableLength > SERVER_LIMITS.streamBytes) this.#socket.pause();
  }

  #abandon(): void {
    for (const controller of this.#calls.values()) controller.abort();
  }
}

interface GrantedClaim {
  readonly task_id: string;
  readonly token: string;
}

function isGranted(result: unknown): result is GrantedClaim {
  const { task_id, token } = fieldsOf(result);
  return typeof task_id === 'string' && typeof token === 'string';
}

const CALL_FIELD_COUNT = 7;
