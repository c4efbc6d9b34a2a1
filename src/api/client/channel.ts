import type { Socket } from 'node:net';
import { FrameReader, renderFrame, toWord } from './frames.ts';
import { type HttpConnection, MAX_ANSWER_BYTES, type Received } from './http.ts';

export interface ChannelCall {
  readonly operation: string;
  readonly key: string;
  /** Absent: the channel's own token and path. */
  readonly token?: string | undefined;
  readonly projectPath?: string | undefined;
  readonly body: string;
}

/** Many numbered calls on one connection. Calls of one tick are sent together, and so are their answers. */
export class CallChannel {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, (received: Received) => void>();
  #lastId = 0;
  #unsent = '';
  isOpen = true;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const reader = new FrameReader({
      bodyBytes: MAX_ANSWER_BYTES,
      onFrame: ([word, id], body) => word === 'answer' && this.#receive(Number(id), body),
    });
    socket.on('data', (chunk: Buffer) => {
      if (!reader.push(chunk)) this.#fail('garbled');
    });
    socket.on('error', () => this.#fail('closed'));
    socket.on('close', () => this.#fail('closed'));
    socket.unref();
  }

  /** Upgrades a connection. If the daemon refuses, returns its answer. */
  static async open(
    connection: HttpConnection,
    headers: Readonly<Record<string, string>>,
    timeoutMs: number,
  ): Promise<
    { readonly ok: true; readonly channel: CallChannel } | { readonly ok: false; readonly received: Received }
  > {
    const asked = { ...headers, connection: 'upgrade', upgrade: 'baton-calls' };
    const received = await connection.send({ method: 'GET', path: '/v1/calls', headers: asked }, { timeoutMs });
    if (received.ok && received.status === 101)
      return { ok: true, channel: new CallChannel(connection.releaseSocket()) };
    connection.close();
    return { ok: false, received };
  }

  get load(): number {
    return this.#waiting.size;
  }

  async call(call: ChannelCall, options: { timeoutMs: number; signal?: AbortSignal | undefined }): Promise<Received> {
    const { signal } = options;
    if (signal?.aborted === true) return { ok: false, lost: 'aborted' };
    if (!this.isOpen) return { ok: false, lost: 'closed' };
    return new Promise((resolve) => {
      const id = ++this.#lastId;
      const abort = (): void => this.#cancel(id, 'aborted');
      const timer = setTimeout(() => this.#cancel(id, 'timeout'), options.timeoutMs);
      if (this.#waiting.size === 0) this.#socket.ref();
      this.#waiting.set(id, (received) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#waiting.delete(id);
        if (this.#waiting.size === 0) this.#socket.unref();
        resolve(received);
      });
      signal?.addEventListener('abort', abort, { once: true });
      this.#send(renderCall(id, call));
    });
  }

  /** Sends the queue first, because it may hold cancellations. */
  close(): void {
    if (this.#unsent !== '') this.#flush();
    this.#fail('closed');
  }

  #receive(id: number, body: Buffer | undefined): boolean {
    if (body === undefined) return false;
    // A cancelled call has no waiter.
    this.#waiting.get(id)?.({ ok: true, status: 200, body: body.toString() });
    return true;
  }

  /** Sent even if the answer may be on its way: if the call granted a claim, the daemon releases it. */
  #cancel(id: number, lost: 'aborted' | 'timeout'): void {
    this.#send(renderFrame(`cancel ${id}`, ''));
    this.#waiting.get(id)?.({ ok: false, lost });
  }

  #send(frame: string): void {
    if (this.#unsent === '') process.nextTick(() => this.#flush());
    this.#unsent += frame;
  }

  #flush(): void {
    const text = this.#unsent;
    this.#unsent = '';
    if (this.isOpen) this.#socket.write(text);
  }

  #fail(lost: 'closed' | 'garbled'): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#socket.destroy();
    for (const settle of this.#waiting.values()) settle({ ok: false, lost });
  }
}

function renderCall(id: number, { operation, key, token, projectPath, body }: ChannelCall): string {
  const who = token === undefined ? '' : toWord(token);
  const where = projectPath === undefined ? '' : toWord(encodeURI(projectPath));
  return renderFrame(`call ${id} ${toWord(operation)} ${toWord(key)} ${who} ${where}`, body);
}
