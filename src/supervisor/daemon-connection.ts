import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Answer } from '../api/answer.ts';
import {
  type HttpConnection,
  type HttpRequest,
  noResponseError,
  parseAnswer,
  type Received,
} from '../api/client/http.ts';
import { findDaemon, isOwnSocket } from '../api/client/reach.ts';
import { KEEPABLE, keepCall, keptAnswer, listKept } from '../api/outbox.ts';
import { readDaemonRecord, stateFiles } from '../api/state-folder.ts';
import type { AgentReport, Exit } from '../protocol/agent-report.ts';
import type { Launch } from './contract.ts';

export interface DaemonCall {
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
export class DaemonConnection {
  readonly #stateDir: string;
  readonly #token: string;
  readonly #outbox: string;
  /** A stop that must be on record waits for one way to the daemon and back, not for a new connection. */
  #idle: HttpConnection | undefined;
  #deliveryTimer: NodeJS.Timeout | undefined;

  /** With the supervisor's own token. */
  constructor(stateDir: string, token: string) {
    this.#stateDir = stateDir;
    this.#token = token;
    this.#outbox = stateFiles(stateDir).outbox;
  }

  /** Says something: heard, refused, or kept. */
  async send(saying: DaemonCall): Promise<Answer> {
    // What was kept earlier comes first: a daemon that has just come must not hear of an end before the signal that was given ahead of it.
    const isNext = listKept(this.#outbox).length === 0 || (await this.deliverOutbox());
    const answer: Answer = isNext ? await this.request(saying) : { ok: false, error: DAEMON_AWAY };
    if (answer.ok || !UNDELIVERED_CODES.has(answer.error.code) || !KEEPABLE.has(saying.operation)) return answer;
    const { operation, input, key, token, projectPath = null } = saying;
    const kept = { v: 1, operation, input, key, token, projectPath, keptAt: new Date().toISOString() } as const;
    if (!keepCall(this.#outbox, kept)) return answer;
    this.#scheduleDelivery(FIRST_DELIVERY_MS);
    return keptAnswer(operation);
  }

  /** Asks once, and keeps nothing. */
  async request(
    { operation, input, token, key, projectPath, headers }: DaemonCall,
    timeoutMs = AWAY_MS,
  ): Promise<Answer> {
    const above = {
      ...textHeaders(headers),
      authorization: `Bearer ${token}`,
      'idempotency-key': key,
      ...(projectPath === undefined ? {} : { 'baton-project-path': encodeURI(projectPath) }),
    };
    const received = await this.#post(
      { method: 'POST', path: `/v1/${operation}`, headers: above, body: input },
      timeoutMs,
    );
    if (received === undefined) return { ok: false, error: DAEMON_AWAY };
    return received.ok ? parseAnswer(received.body) : { ok: false, error: noResponseError(received.lost) };
  }

  /** Asks the daemon to take what lies in the outbox. */
  async deliverOutbox(timeoutMs = AWAY_MS): Promise<boolean> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const received = await this.#post({ method: 'POST', path: '/v1/deliver', headers, body: '{}' }, timeoutMs);
    return received?.ok === true;
  }

  /** What came back, or nothing where there is no daemon. */
  async #post(request: HttpRequest, timeoutMs: number): Promise<Received | undefined> {
    const idle = this.#idle;
    this.#idle = undefined;
    const first = idle === undefined ? undefined : await this.#exchange(idle, request, timeoutMs);
    // The other end of a connection that was kept may have gone long ago. Whatever is said has a key, so it is said again.
    const isStale = first?.ok === false && first.lost === 'closed';
    if (first !== undefined && !isStale) return first;
    const connection = await findDaemon(this.#stateDir);
    return connection && this.#exchange(connection, request, timeoutMs);
  }

  async #exchange(connection: HttpConnection, request: HttpRequest, timeoutMs: number): Promise<Received> {
    const received = await connection.send(request, { timeoutMs });
    if (this.#idle === undefined && connection.isOpen) this.#idle = connection;
    else connection.close();
    return received;
  }

  /** The daemon's answer to a request as it begins, which may never end; nothing where nobody answered. */
  async openStream({ method, path, headers, body }: ForwardedRequest): Promise<IncomingMessage | undefined> {
    const record = readDaemonRecord(this.#stateDir);
    if (record === undefined || !isOwnSocket(record.socket, this.#stateDir)) return undefined;
    const length = body === undefined ? {} : { 'content-length': body.length };
    const above = { ...headers, host: 'localhost', ...length };
    return new Promise((resolve) => {
      const sent = request({ socketPath: record.socket, method, path, headers: above, agent: false });
      sent.once('response', resolve);
      sent.once('error', () => resolve(undefined));
      sent.end(body);
    });
  }

  /** There is no event for a daemon that comes back, or that is quick again. */
  #scheduleDelivery(afterMs: number): void {
    if (this.#deliveryTimer !== undefined) return;
    this.#deliveryTimer = setTimeout(() => {
      this.#deliveryTimer = undefined;
      if (listKept(this.#outbox).length === 0) return;
      void this.deliverOutbox().then(() => this.#scheduleDelivery(Math.min(afterMs * 2, MAX_DELIVERY_MS)));
    }, afterMs).unref();
  }
}

export interface ForwardedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body?: Uint8Array;
}

const FIRST_DELIVERY_MS = 500;
const MAX_DELIVERY_MS = 5000;

/** Answers that mean: the daemon has not recorded it, and may do so later. */
export const UNDELIVERED_CODES: ReadonlySet<string> = new Set([
  'daemon-away',
  'no-answer',
  'stopping',
  'store-unavailable',
]);

const DAEMON_AWAY = {
  code: 'daemon-away',
  message: 'the daemon is away',
  hint: 'It starts again with: baton up',
} as const;

function textHeaders(headers: IncomingHttpHeaders = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

/** Tells the daemon what happens to the process, in the order in which it happens, each thing once. */
export class Reporter {
  readonly #launch: Launch;
  readonly #line: DaemonConnection;
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  constructor(launch: Launch, line: DaemonConnection) {
    this.#launch = launch;
    this.#line = line;
  }

  /** Resolves when it is on record, with the daemon or in the outbox. Commands have only an end to tell. */
  async report(report: AgentReport): Promise<Answer> {
    const { kind, start, id } = this.#launch;
    if (kind === 'command' && report.kind !== 'exited') return { ok: true, result: null };
    // A process starts and ends once a start; other things happen again and again.
    const isOnce = REPORTED_ONCE.has(report.kind);
    const key = `${id}:${report.kind}:${start}${isOnce ? '' : `:${(this.#count += 1)}`}`;
    return this.send({
      operation: kind === 'agent' ? 'agent_report' : 'command_report',
      input: JSON.stringify(kind === 'agent' || report.kind !== 'exited' ? report : exitOf(report)),
      token: this.#launch.token,
      key,
    });
  }

  /** When what was said before is on record: a process that prints its signal at once has started all the same. */
  async send(saying: DaemonCall): Promise<Answer> {
    const answer = this.#last.then(async () => this.#line.send(saying));
    this.#last = answer.catch(() => {});
    return answer;
  }
}

const REPORTED_ONCE: ReadonlySet<AgentReport['kind']> = new Set(['started', 'attached', 'detached', 'exited']);

function exitOf({ start, code, signal, timed_out, blocks_used, output }: Exit): Exit {
  return { start, code, signal, timed_out, blocks_used, output };
}
