import { type Fields, fieldsOf, isObject, numberOf, textOf } from '../protocol/shape/read-unknown.ts';
import { splitLines } from '../protocol/text/split-lines.ts';

/** An error of JSON-RPC. A handler throws it to refuse a request. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The codes of JSON-RPC, and those that ACP adds. */
export const RPC = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  authRequired: -32_000,
  notFound: -32_002,
  cancelled: -32_800,
} as const;

export interface RpcOptions {
  /** Sends a line to the other side. */
  readonly write: (line: string) => void;
  /** Answers a request. Throws `RpcError` to refuse it. The signal aborts if the other side withdraws the request. */
  readonly onRequest: (method: string, params: Fields, signal: AbortSignal) => Promise<object | null>;
  readonly onNotification: (method: string, params: Fields) => void;
  /**
   * Called with a line that is not a JSON-RPC message. Some agents print a banner, so one such line must not close the
   * connection.
   */
  readonly onInvalid?: (line: string | null) => void;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: RpcError) => void;
}

/**
 * One side of a JSON-RPC connection over lines of JSON. Messages are handled in order of arrival. The other side is not
 * trusted: messages that cannot be parsed are reported and dropped.
 */
export class RpcConnection {
  readonly #options: RpcOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #running = new Map<string, AbortController>();
  readonly #closed = new AbortController();
  #ids = 0;
  /** Feeds received bytes, in chunks of any size. */
  readonly push: (chunk: Uint8Array) => void;

  constructor(options: RpcOptions) {
    this.#options = options;
    this.push = splitLines((line) => this.#onLine(line), {
      maxBytes: MAX_LINE_BYTES,
      onDropped: () => this.#options.onInvalid?.(null),
    });
  }

  /** Rejects with `RpcError` if the other side refuses, if `signal` aborts the request, or if the connection closes. */
  async request(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    if (this.#closed.signal.aborted) throw this.#goneError();
    if (signal?.aborted === true) throw withdrawnError();
    const id = (this.#ids += 1);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const withdraw = (): void => {
      // A late answer is ignored.
      this.#waiting.delete(id);
      this.notify('$/cancel_request', { requestId: id });
      reject(withdrawnError());
    };
    signal?.addEventListener('abort', withdraw, { once: true });
    this.#waiting.set(id, { resolve, reject });
    this.#send({ id, method, params });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', withdraw);
    }
  }

  notify(method: string, params: object): void {
    if (!this.#closed.signal.aborted) this.#send({ method, params });
  }

  /** Stops sending and reading. Rejects pending requests and aborts running ones. */
  close(): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    for (const { reject } of this.#waiting.values()) reject(this.#goneError());
    this.#waiting.clear();
    for (const controller of this.#running.values()) controller.abort();
  }

  #goneError(): RpcError {
    return new RpcError(RPC.internalError, GONE);
  }

  #send(message: object): void {
    this.#options.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #onLine(line: string): void {
    if (this.#closed.signal.aborted || line.trim() === '') return;
    const message = parse(line);
    if (!isObject(message)) return this.#onUnreadable(line, message === undefined);
    try {
      this.#onMessage(message, line);
    } catch {
      // For example, the message may be nested more deeply than the parser can follow. That must not end this process.
      this.#options.onInvalid?.(line);
    }
  }

  #onMessage(message: Fields, line: string): void {
    const { method, id, params } = message;
    if (typeof method !== 'string') return this.#onResponse(message, line);
    if (id === undefined) return this.#onNotification(method, fieldsOf(params));
    if (typeof id !== 'string' && typeof id !== 'number') return this.#onUnreadable(line, false);
    void this.#answer(id, method, params);
  }

  #onUnreadable(line: string, isText: boolean): void {
    this.#options.onInvalid?.(line);
    // Plain text is often a banner of the program, so it gets no error response.
    if (!isText) this.#send({ id: null, error: { code: RPC.invalidRequest, message: 'not a request of JSON-RPC' } });
  }

  #onResponse(message: Fields, line: string): void {
    const waiting = this.#waiting.get(numberOf(message['id']));
    if (waiting === undefined || !('result' in message || 'error' in message)) return this.#options.onInvalid?.(line);
    this.#waiting.delete(numberOf(message['id']));
    if (message['error'] === undefined || message['error'] === null) return waiting.resolve(message['result']);
    const { code, message: text, data } = fieldsOf(message['error']);
    const isCode = typeof code === 'number' && Number.isFinite(code);
    waiting.reject(new RpcError(isCode ? code : RPC.internalError, textOf(text) || 'unknown error', data));
  }

  #onNotification(method: string, params: Fields): void {
    if (method === '$/cancel_request') this.#running.get(keyOf(params['requestId']))?.abort();
    else this.#options.onNotification(method, params);
  }

  async #answer(id: string | number, method: string, params: unknown): Promise<void> {
    const key = keyOf(id);
    const controller = new AbortController();
    try {
      if (params !== undefined && !isObject(params)) throw new RpcError(RPC.invalidParams, 'params must be an object');
      if (this.#running.has(key)) throw new RpcError(RPC.invalidRequest, `request ${id} is already running`);
      if (this.#running.size >= MAX_OPEN_REQUESTS)
        throw new RpcError(RPC.internalError, `more than ${MAX_OPEN_REQUESTS} requests at once`);
      this.#running.set(key, controller);
      const result = await this.#options.onRequest(method, fieldsOf(params), controller.signal);
      this.#respond({ id, result });
    } catch (error) {
      this.#respond({ id, error: describeError(error) });
    } finally {
      if (this.#running.get(key) === controller) this.#running.delete(key);
    }
  }

  #respond(message: object): void {
    if (!this.#closed.signal.aborted) this.#send(message);
  }
}

/** Large, because a diff contains whole files. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const MAX_OPEN_REQUESTS = 64;
const GONE = 'the connection is closed';

export function methodNotFound(method: string): RpcError {
  return new RpcError(RPC.methodNotFound, `unknown method: ${method.slice(0, 200)}`);
}

function withdrawnError(): RpcError {
  return new RpcError(RPC.cancelled, 'the request was withdrawn');
}

/** Whether a request failed because the other side closed the connection. */
export function isGone(error: unknown): boolean {
  return error instanceof RpcError && error.message === GONE;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function keyOf(id: unknown): string {
  return `${typeof id}:${String(id)}`;
}

function describeError(error: unknown): object {
  if (!(error instanceof RpcError)) return { code: RPC.internalError, message: 'internal error' };
  const data = error.data === undefined ? {} : { data: error.data };
  return { code: error.code, message: error.message, ...data };
}
