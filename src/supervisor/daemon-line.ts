import { Agent, request, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from 'node:http';
import type { Answer } from '../api/answer.ts';
import { KEEPABLE, keepCall, keptAnswer, listKept } from '../api/outbox.ts';
import { notHeard, parseAnswer } from '../api/parse-answer.ts';
import type { HttpConnection, HttpRequest, Received } from '../api/http-connection.ts';
import { findDaemon, isOurs } from '../api/reach.ts';
import { readDaemonRecord, stateFiles } from '../api/state-folder.ts';

export interface Saying {
  readonly operation: string;
  /** JSON. */
  readonly input: string;
  readonly token: string;
  /** Delivering it twice is delivering it once. */
  readonly key: string;
  readonly projectPath?: string;
  /** What else its sender wrote above it. */
  readonly headers?: IncomingHttpHeaders;
}

/** A daemon that has not answered for so long counts as away; an agent has no more time than that. */
export const AWAY_MS = 5000;

/**
 * The way to the daemon, which may be away, slow, or a newer one than the one that started us. What says something is kept in the
 * outbox where nobody hears it, and the daemon is reminded of it as soon as there is one.
 */
export class DaemonLine {
  readonly #stateDir: string;
  readonly #token: string;
  readonly #outbox: string;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 1 });
  /** A stop that must be on record waits for one way to the daemon and back, not for a new connection. */
  #idle: HttpConnection | undefined;
  #reminding: NodeJS.Timeout | undefined;

  /** With the supervisor's own token. */
  constructor(stateDir: string, token: string) {
    this.#stateDir = stateDir;
    this.#token = token;
    this.#outbox = stateFiles(stateDir).outbox;
  }

  /** Says something: heard, refused, or kept. */
  async say(saying: Saying): Promise<Answer> {
    // What was kept earlier comes first.
    if (listKept(this.#outbox).length > 0) await this.deliverKept();
    const answer = await this.ask(saying);
    if (answer.ok || !UNHEARD.has(answer.error.code) || !KEEPABLE.has(saying.operation)) return answer;
    const { operation, input, key, token, projectPath = null } = saying;
    const kept = { v: 1, operation, input, key, token, projectPath, keptAt: new Date().toISOString() } as const;
    if (!keepCall(this.#outbox, kept)) return answer;
    this.#remind(FIRST_REMINDER_MS);
    return keptAnswer(operation);
  }

  /** Asks once, and keeps nothing. */
  async ask({ operation, input, token, key, projectPath, headers }: Saying, timeoutMs = AWAY_MS): Promise<Answer> {
    const request = {
      method: 'POST',
      path: `/v1/${operation}`,
      headers: {
        ...textHeaders(headers),
        authorization: `Bearer ${token}`,
        'idempotency-key': key,
        ...(projectPath === undefined ? {} : { 'baton-project-path': encodeURI(projectPath) }),
      },
      body: input,
    } as const;
    const idle = this.#idle;
    this.#idle = undefined;
    const first = idle === undefined ? undefined : await this.#send(idle, request, timeoutMs);
    // The other end of a connection that was kept may have gone long ago. Whatever is said has a key, so it is said again.
    const isStale = first?.ok === false && first.lost === 'closed';
    const received = first === undefined || isStale ? await this.#sendAnew(request, timeoutMs) : first;
    if (received === undefined) return { ok: false, error: AWAY };
    return received.ok ? parseAnswer(received.body) : { ok: false, error: notHeard(received.lost) };
  }

  async #sendAnew(request: HttpRequest, timeoutMs: number): Promise<Received | undefined> {
    const connection = await findDaemon(this.#stateDir);
    return connection && this.#send(connection, request, timeoutMs);
  }

  async #send(connection: HttpConnection, request: HttpRequest, timeoutMs: number): Promise<Received> {
    const received = await connection.send(request, { timeoutMs });
    if (this.#idle === undefined && connection.isOpen) this.#idle = connection;
    else connection.close();
    return received;
  }

  /** The daemon's answer to a request as it begins, or nothing where nobody answered in time. */
  async open({ method, path, headers, body, timeoutMs }: Passage): Promise<IncomingMessage | undefined> {
    const record = readDaemonRecord(this.#stateDir);
    if (record === undefined || !isOurs(record.socket, this.#stateDir)) return undefined;
    const options = {
      socketPath: record.socket,
      method,
      path,
      headers: { ...headers, host: 'localhost', ...(body === undefined ? {} : { 'content-length': body.length }) },
    };
    const first = await attempt({ ...options, agent: this.#agent }, body, timeoutMs);
    // The other end of a connection that was kept may have gone long ago. Whatever is said has a key, so it is said again.
    return first === 'stale' ? answered(await attempt({ ...options, agent: false }, body, timeoutMs)) : answered(first);
  }

  /** Asks the daemon to take what lies in the outbox. */
  async deliverKept(timeoutMs = AWAY_MS): Promise<boolean> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const response = await this.open({ method: 'POST', path: '/v1/deliver', headers, body: EMPTY, timeoutMs });
    return response !== undefined && (await readAll(response)) !== undefined;
  }

  /** There is no event for a daemon that comes back, or that is quick again. */
  #remind(afterMs: number): void {
    if (this.#reminding !== undefined) return;
    this.#reminding = setTimeout(() => {
      this.#reminding = undefined;
      if (listKept(this.#outbox).length === 0) return;
      void this.deliverKept().then(() => this.#remind(Math.min(afterMs * 2, LAST_REMINDER_MS)));
    }, afterMs).unref();
  }
}

type Attempted = IncomingMessage | 'stale' | undefined;

async function attempt(options: RequestOptions, body: Uint8Array | undefined, timeoutMs?: number): Promise<Attempted> {
  return new Promise((resolve) => {
    const sent = request(options);
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => sent.destroy(new Error('slow')), timeoutMs);
    sent.once('response', (response) => {
      // One that stops in the middle is as good as none.
      response.once('close', () => clearTimeout(timer));
      resolve(response);
    });
    sent.once('error', ({ message }) => {
      clearTimeout(timer);
      resolve(sent.reusedSocket && message !== 'slow' ? 'stale' : undefined);
    });
    sent.end(body);
  });
}

function answered(attempted: Attempted): IncomingMessage | undefined {
  return attempted === 'stale' ? undefined : attempted;
}

export interface Passage {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body?: Uint8Array;
  readonly timeoutMs?: number;
}

const EMPTY = Buffer.from('{}');
const FIRST_REMINDER_MS = 500;
const LAST_REMINDER_MS = 5000;

/** Answers that mean: nobody has heard it, or nobody said that they have. */
const UNHEARD: ReadonlySet<string> = new Set(['daemon-away', 'no-answer', 'stopping']);

const AWAY = {
  code: 'daemon-away',
  message: 'the daemon is away',
  hint: 'It starts again with: baton up',
} as const;

/** Everything that is said, or nothing where it broke off or is larger than any answer. */
export async function readAll(stream: IncomingMessage, limitBytes = 64 * 1024 * 1024): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    stream.on('data', (piece: Buffer) => {
      bytes += piece.length;
      pieces.push(piece);
      if (bytes > limitBytes) stream.destroy();
    });
    stream.once('end', () => resolve(Buffer.concat(pieces)));
    stream.once('error', () => resolve(undefined));
    stream.once('close', () => resolve(undefined));
  });
}

function textHeaders(headers: IncomingHttpHeaders = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}
