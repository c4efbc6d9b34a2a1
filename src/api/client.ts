import type { Answer, ApiError } from './answer.ts';
import { pause, type HttpConnection, type HttpRequest } from './http-connection.ts';
import { KEEPABLE, keepCall, keptAnswer, listKept } from './outbox.ts';
import { notHeard, parseAnswer } from './parse-answer.ts';
import { findDaemon, reachDaemon } from './reach.ts';
import { readEvents, type EventsOptions, type StreamedEntry } from './read-events.ts';
import { readToken, stateFiles } from './state-folder.ts';
import { VERSION } from './version.ts';

export interface ClientOptions {
  readonly stateDir: string;
  /** Where an agent reaches its supervisor. */
  readonly url?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Who asks: a token, or the one that lies in the state folder for an operator or a worker. */
  readonly token: { readonly given: string } | { readonly ofFolder: 'operator' | 'worker' };
  /** A folder in the repository that calls are about. Sessions need none: their token names it. */
  readonly projectPath?: string;
  readonly autostart: boolean;
  /** How long to try to reach a daemon before a call is kept or given up. */
  readonly reachMs: number;
}

export interface CallOptions {
  /** A retry with the same key gets the first answer. Made up where it is left out. */
  readonly key?: string;
  readonly token?: string;
  readonly projectPath?: string;
  readonly signal?: AbortSignal;
  /** How long to wait for the answer, besides the `wait_ms` of the input. */
  readonly timeoutMs?: number;
}

/** A daemon, as surfaces see it. Calls may overlap; each takes a connection of its own, and gives it back. */
export class Client {
  readonly #options: ClientOptions;
  readonly #idle: HttpConnection[] = [];
  #reaching: ReturnType<typeof reachDaemon> | undefined;
  #foldersToken: string | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /**
   * Asks for an operation. The input is a value, or JSON text that is passed on as it stands. A connection that is lost is made
   * again and the call repeated with the same key; a call that says something and reaches nobody is kept in the outbox.
   */
  async call(operation: string, input: unknown, options: CallOptions = {}): Promise<Answer> {
    const body = typeof input === 'string' ? input : JSON.stringify(input ?? {});
    const key = options.key ?? crypto.randomUUID();
    const answer = await this.#ask(
      { method: 'POST', path: `/v1/${operation}`, headers: { 'idempotency-key': key }, body },
      options,
    );
    if (answer.ok || !UNHEARD.has(answer.error.code) || !KEEPABLE.has(operation)) return answer;
    const token = options.token ?? this.#token();
    if (token === undefined) return answer;
    const projectPath = options.projectPath ?? this.#options.projectPath ?? null;
    const call = { v: 1, operation, input: body, key, token, projectPath, keptAt: new Date().toISOString() } as const;
    return keepCall(stateFiles(this.#options.stateDir).outbox, call) ? keptAnswer(operation) : answer;
  }

  /** Version and process of the daemon. */
  async health(options: CallOptions = {}): Promise<Answer> {
    return this.#ask({ method: 'GET', path: '/v1/health', headers: {} }, options);
  }

  /** The entries of the ledger after a number, and then each as it is recorded. What it returns is why it ended. */
  events(options: EventsOptions & CallOptions = {}): AsyncGenerator<StreamedEntry, ApiError | undefined> {
    const { reachMs } = this.#options;
    const connect = async () => reachDaemon({ ...this.#options, until: performance.now() + reachMs });
    return readEvents({ connect, headers: () => this.#headers(options), ...options });
  }

  /** Ends the daemon, and waits until it has ended. False where none was running. */
  async stop(options: CallOptions = {}): Promise<Answer<{ readonly wasRunning: boolean }>> {
    const connection = await findDaemon(this.#options.stateDir);
    if (connection === undefined) return { ok: true, result: { wasRunning: false } };
    const request = { method: 'POST', path: '/v1/stop', headers: this.#headers(options), body: '{}' } as const;
    const received = await connection.send(request, { timeoutMs: options.timeoutMs ?? 60_000 });
    if (!received.ok && received.lost !== 'closed') return { ok: false, error: notHeard(received.lost) };
    const answer = received.ok ? parseAnswer(received.body) : undefined;
    if (answer?.ok === false) return answer;
    await connection.closed();
    return { ok: true, result: { wasRunning: true } };
  }

  /** Asks the daemon to deliver what is kept, where something is, so that it comes before what is said next. */
  async deliverKept(): Promise<void> {
    if (listKept(stateFiles(this.#options.stateDir).outbox).length === 0) return;
    await this.#ask({ method: 'POST', path: '/v1/deliver', headers: {}, body: '{}' }, { timeoutMs: 5000 });
  }

  /** Connects ahead of the first call. */
  async reach(): Promise<ApiError | undefined> {
    const reached = await this.#acquire(performance.now() + this.#options.reachMs);
    if (!reached.ok) return reached.error;
    this.#release(reached.connection);
    return undefined;
  }

  close(): void {
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  async #ask(request: HttpRequest, options: CallOptions): Promise<Answer> {
    const until = performance.now() + this.#options.reachMs;
    for (let losses = 0; ;) {
      const reached = await this.#acquire(until);
      if (!reached.ok) return reached;
      const { connection } = reached;
      const headers = { ...this.#headers(options), ...request.headers };
      const received = await connection.send({ ...request, headers }, sendOptions(request, options));
      if (received.ok) {
        this.#release(connection);
        const answer = parseAnswer(received.body);
        const isStopping = !answer.ok && answer.error.code === 'stopping';
        if (!isStopping || performance.now() > until) return answer;
        // A daemon that is about to end still says so; the next one can start when it has.
        connection.close();
        await pause(30);
      } else if (received.lost !== 'closed' || ++losses > MAX_LOSSES) {
        return { ok: false, error: notHeard(received.lost) };
      } else {
        // The others that lie idle led to the same daemon.
        this.close();
      }
    }
  }

  async #acquire(until: number): ReturnType<typeof reachDaemon> {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.isOpen) return { ok: true, connection };
    }
    for (;;) {
      const connection = await findDaemon(this.#options.stateDir, this.#options.url);
      if (connection !== undefined) return { ok: true, connection };
      // One of the calls of this client looks for a daemon, or starts it; the others wait for that.
      if (this.#reaching === undefined) return this.#reach(until);
      const reached = await this.#reaching;
      if (!reached.ok) return reached;
    }
  }

  async #reach(until: number): ReturnType<typeof reachDaemon> {
    this.#reaching = reachDaemon({ ...this.#options, until });
    try {
      return await this.#reaching;
    } finally {
      this.#reaching = undefined;
    }
  }

  #release(connection: HttpConnection): void {
    if (connection.isOpen && this.#idle.length < MAX_IDLE) this.#idle.push(connection);
    else connection.close();
  }

  #headers({ token = this.#token(), projectPath = this.#options.projectPath }: CallOptions): Record<string, string> {
    return {
      'baton-version': VERSION,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      // Headers are ASCII, and paths are not.
      ...(projectPath === undefined ? {} : { 'baton-project-path': encodeURI(projectPath) }),
    };
  }

  #token(): string | undefined {
    const { token, stateDir } = this.#options;
    if ('given' in token) return token.given;
    // Read late: the first daemon of a folder makes it.
    this.#foldersToken ??= readToken(stateDir, token.ofFolder);
    return this.#foldersToken;
  }
}

/** Answers that mean: nobody has heard it, or nobody said that they have. */
const UNHEARD: ReadonlySet<string> = new Set(['daemon-away', 'no-answer', 'stopping']);

const MAX_LOSSES = 5;
const MAX_IDLE = 64;
const ANSWER_MS = 60_000;

function sendOptions({ body = '' }: HttpRequest, { signal, timeoutMs = ANSWER_MS }: CallOptions) {
  const waitMs = Number(/"wait_ms"\s*:\s*(\d{1,9})/.exec(body)?.[1] ?? 0);
  return { timeoutMs: timeoutMs + waitMs, ...(signal === undefined ? {} : { signal }) };
}
