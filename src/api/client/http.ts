import { connect, type Socket } from 'node:net';
import type { Answer, ApiError } from '../answer.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The response, or how the connection was lost. After a loss the caller does not know whether the daemon acted. */
export type Received =
  | { readonly ok: true; readonly status: number; readonly body: string }
  | { readonly ok: false; readonly lost: 'closed' | 'timeout' | 'aborted' | 'garbled' };

/** HTTP/1.1, one request at a time. Node's own client adds 50 ms to start-up and is three times slower. */
export class HttpConnection {
  readonly #socket: Socket;
  #waiting: ((received: Received) => void) | undefined;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #needed = 0;
  isOpen = true;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => this.#fail('closed'));
    socket.on('close', () => this.#fail('closed'));
  }

  async send(
    request: HttpRequest,
    options: { timeoutMs?: number; signal?: AbortSignal | undefined } = {},
  ): Promise<Received> {
    if (options.signal?.aborted === true) return { ok: false, lost: 'aborted' };
    if (!this.isOpen || this.#waiting !== undefined) return { ok: false, lost: 'closed' };
    return new Promise((resolve) => {
      const abort = (): void => this.#fail('aborted');
      const timer =
        options.timeoutMs === undefined ? undefined : setTimeout(() => this.#fail('timeout'), options.timeoutMs);
      this.#waiting = (received) => {
        clearTimeout(timer);
        options.signal?.removeEventListener('abort', abort);
        this.#socket.unref();
        resolve(received);
      };
      options.signal?.addEventListener('abort', abort, { once: true });
      this.#socket.ref();
      this.#socket.write(renderRequest(request));
    });
  }

  stream(request: HttpRequest): Socket {
    this.#socket.removeAllListeners('data');
    this.#socket.ref();
    this.#socket.write(renderRequest(request));
    return this.#socket;
  }

  releaseSocket(): Socket {
    for (const event of ['data', 'error', 'close']) this.#socket.removeAllListeners(event);
    this.isOpen = false;
    return this.#socket;
  }

  async closed(): Promise<void> {
    if (!this.isOpen) return;
    this.#socket.ref();
    await new Promise((resolve) => {
      this.#socket.once('close', resolve);
    });
  }

  close(): void {
    this.#fail('closed');
  }

  #receive(chunk: Buffer): void {
    this.#pieces.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return;
    const received = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces);
    const answer = parseHttpResponse(received);
    if (typeof answer === 'number') {
      this.#pieces = [received];
      this.#needed = answer;
      return;
    }
    if (answer === 'garbled' || this.#waiting === undefined || answer.rest.length > 0) {
      this.#fail('garbled');
      return;
    }
    this.#pieces = [];
    this.#bytes = 0;
    this.#needed = 0;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (answer.closes) this.close();
    waiting({ ok: true, status: answer.status, body: answer.body });
  }

  #fail(lost: 'closed' | 'timeout' | 'aborted' | 'garbled'): void {
    this.isOpen = false;
    this.#socket.destroy();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.({ ok: false, lost });
  }
}

/** Returns undefined if nothing listens there. Retries while the backlog is full. */
export async function openConnection(door: DaemonAddress): Promise<HttpConnection | undefined> {
  for (let tries = 1; ; tries++) {
    const found = await tryConnect(door);
    if (found !== 'crowded') return found;
    if (tries === MAX_TRIES) return undefined;
    await delay(10);
  }
}

export type DaemonAddress = { readonly path: string } | { readonly host: '127.0.0.1'; readonly port: number };

async function tryConnect(door: DaemonAddress): Promise<HttpConnection | 'crowded' | undefined> {
  return new Promise((resolve) => {
    const socket = connect(door);
    const fail = (error: Error): void => resolve('code' in error && error.code === 'EAGAIN' ? 'crowded' : undefined);
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.off('error', fail);
      resolve(new HttpConnection(socket));
    });
  });
}

export async function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** The daemon never sends a larger answer, so the sender is another program. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

function renderRequest({ method, path, headers, body }: HttpRequest): string {
  let head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n`;
  for (const [name, value] of Object.entries(headers)) head += `${name}: ${value.replaceAll(/[\r\n]/g, ' ')}\r\n`;
  return body === undefined ? `${head}\r\n` : `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

interface ParsedResponse {
  readonly status: number;
  readonly body: string;
  readonly closes: boolean;
  readonly rest: Buffer;
}

/** Returns the response, or how many bytes it needs. The daemon always sends a length; another program may not. */
function parseHttpResponse(bytes: Buffer): ParsedResponse | number | 'garbled' {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return bytes.length > 65_536 ? 'garbled' : bytes.length + 1;
  const head = bytes.toString('latin1', 0, end);
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
  const length = status === '101' ? '0' : /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (status === undefined || length === undefined || Number(length) > MAX_ANSWER_BYTES) return 'garbled';
  const from = end + 4;
  const to = from + Number(length);
  if (bytes.length < to) return to;
  const closes = /\r\nconnection: *close/i.test(head);
  return { status: Number(status), body: bytes.toString('utf8', from, to), closes, rest: bytes.subarray(to) };
}

export function parseAnswer(body: string): Answer {
  try {
    const answer: unknown = JSON.parse(body);
    if (isAnswer(answer)) return answer;
  } catch {
    // Reported below.
  }
  return { ok: false, error: noResponseError('garbled') };
}

function isAnswer(value: unknown): value is Answer {
  if (typeof value !== 'object' || value === null || !('ok' in value)) return false;
  return value.ok === true ? 'result' in value : 'error' in value;
}

/** The caller does not know whether the daemon received the call. */
export function noResponseError(lost: 'closed' | 'timeout' | 'aborted' | 'garbled'): ApiError {
  const messages = {
    closed: 'the daemon closed the connection before it answered',
    timeout: 'the daemon did not answer in time',
    aborted: 'the call was cancelled',
    garbled: 'the answer cannot be read: another program may have answered',
  };
  const code = lost === 'aborted' ? 'aborted' : 'no-answer';
  return { code, message: messages[lost], hint: 'Start the daemon, or see that it runs: baton up' };
}

/** Whether the daemon is stopping. The next one can take the call. */
export function isStopping(answer: Answer): boolean {
  return !answer.ok && answer.error.code === 'stopping';
}

const MAX_TRIES = 500;
