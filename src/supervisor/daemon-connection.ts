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
import { isKeepable, keepCall, keptAnswer, listKept } from '../api/outbox.ts';
import { readDaemonRecord, stateFiles } from '../api/state-folder.ts';
import type { AgentReport, Exit } from '../protocol/agent-report.ts';
import type { Launch } from './contract.ts';

export interface DaemonCall {
  readonly operation: string;
  readonly input: string;
  readonly token: string;
  readonly key: string;
  readonly projectPath?: string;
  readonly headers?: IncomingHttpHeaders;
}

/** A daemon that does not answer within this time counts as away, because agents' hooks wait no longer. */
const AWAY_MS = 5000;

/**
 * Calls a daemon that may be away, slow or newer. Undelivered writes are kept in the outbox; a timer later asks the
 * daemon to drain it.
 */
export class DaemonConnection {
  readonly #stateDir: string;
  readonly #token: string;
  readonly #outbox: string;
  /** The connection is kept open, so that a stop which must be recorded costs one round trip. */
  #idle: HttpConnection | undefined;
  #deliveryTimer: NodeJS.Timeout | undefined;

  constructor(stateDir: string, token: string) {
    this.#stateDir = stateDir;
    this.#token = token;
    this.#outbox = stateFiles(stateDir).outbox;
  }

  async send(call: DaemonCall): Promise<Answer> {
    // Kept calls are delivered first: the daemon must not receive an exit before the signal that preceded it.
    const isNext = listKept(this.#outbox).length === 0 || (await this.deliverOutbox());
    const answer: Answer = isNext ? await this.request(call) : { ok: false, error: DAEMON_AWAY };
    if (answer.ok || !UNDELIVERED_CODES.has(answer.error.code) || !isKeepable(call.operation, call.input))
      return answer;
    const { operation, input, key, token, projectPath = null } = call;
    const kept = { v: 1, operation, input, key, token, projectPath, keptAt: new Date().toISOString() } as const;
    if (!keepCall(this.#outbox, kept)) return answer;
    this.#scheduleDelivery(FIRST_DELIVERY_MS);
    return keptAnswer(operation);
  }

  async request({ operation, input, token, key, projectPath, headers }: DaemonCall): Promise<Answer> {
    const allHeaders = {
      ...textHeaders(headers),
      authorization: `Bearer ${token}`,
      'idempotency-key': key,
      ...(projectPath === undefined ? {} : { 'baton-project-path': encodeURI(projectPath) }),
    };
    const received = await this.#post({ path: `/v1/${operation}`, headers: allHeaders, body: input });
    if (received === undefined) return { ok: false, error: DAEMON_AWAY };
    return received.ok ? parseAnswer(received.body) : { ok: false, error: noResponseError(received.lost) };
  }

  async deliverOutbox(): Promise<boolean> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const received = await this.#post({ path: '/v1/deliver', headers, body: '{}' });
    return received?.ok === true;
  }

  async #post(posted: Omit<HttpRequest, 'method'>): Promise<Received | undefined> {
    const request = { method: 'POST', ...posted } as const;
    const idle = this.#idle;
    this.#idle = undefined;
    const first = idle === undefined ? undefined : await this.#exchange(idle, request);
    // The kept connection may be closed already. Every call has a key, so it can be sent again.
    const isStale = first?.ok === false && first.lost === 'closed';
    if (first !== undefined && !isStale) return first;
    const connection = await findDaemon(this.#stateDir);
    return connection && this.#exchange(connection, request);
  }

  async #exchange(connection: HttpConnection, request: HttpRequest): Promise<Received> {
    const received = await connection.send(request, { timeoutMs: AWAY_MS });
    if (this.#idle === undefined && connection.isOpen) this.#idle = connection;
    else connection.close();
    return received;
  }

  /**
   * Opens a stream, and returns the response once it begins; it may never end. Undefined if the daemon does not answer.
   */
  async openStream({ method, url: path }: IncomingMessage, headers: IncomingHttpHeaders, body?: Buffer) {
    const record = readDaemonRecord(this.#stateDir);
    if (record === undefined || !isOwnSocket(record.socket, this.#stateDir)) return undefined;
    const length = body === undefined ? {} : { 'content-length': body.length };
    const allHeaders = { ...headers, host: 'localhost', ...length };
    return new Promise<IncomingMessage | undefined>((resolve) => {
      const sent = request({ socketPath: record.socket, method, path, headers: allHeaders, agent: false });
      sent.once('response', resolve);
      sent.once('error', () => resolve(undefined));
      sent.end(body);
    });
  }

  /** No event announces that a daemon has started, so this polls. */
  #scheduleDelivery(afterMs: number): void {
    if (this.#deliveryTimer !== undefined) return;
    this.#deliveryTimer = setTimeout(() => {
      this.#deliveryTimer = undefined;
      if (listKept(this.#outbox).length === 0) return;
      void this.deliverOutbox().then(() => this.#scheduleDelivery(Math.min(afterMs * 2, MAX_DELIVERY_MS)));
    }, afterMs).unref();
  }
}

/** Errors after which the call is not recorded, and may be sent again later. */
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

/** Reports the process's events in order, each once. */
export class Reporter {
  readonly #launch: Launch;
  readonly #daemon: DaemonConnection;
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  constructor(launch: Launch, daemon: DaemonConnection) {
    this.#launch = launch;
    this.#daemon = daemon;
  }

  /** Resolves when the report is recorded, by the daemon or in the outbox. Commands report only their exit. */
  async report(report: AgentReport): Promise<Answer> {
    const { kind, start, id } = this.#launch;
    if (kind === 'command' && report.kind !== 'exited') return { ok: true, result: null };
    // Starts and exits happen once per start; other events repeat.
    const isOnce = REPORTED_ONCE.has(report.kind);
    const key = `${id}:${report.kind}:${start}${isOnce ? '' : `:${(this.#count += 1)}`}`;
    return this.send({
      operation: kind === 'agent' ? 'agent_report' : 'command_report',
      input: JSON.stringify(kind === 'agent' || report.kind !== 'exited' ? report : exitOf(report)),
      token: this.#launch.token,
      key,
    });
  }

  /**
   * Sends a call after everything before it is recorded: the start of a process that signals at once must be reported
   * first.
   */
  async send(call: DaemonCall): Promise<Answer> {
    const answer = this.#last.then(async () => this.#daemon.send(call));
    this.#last = answer.catch(() => {});
    return answer;
  }
}

const REPORTED_ONCE: ReadonlySet<AgentReport['kind']> = new Set(['started', 'attached', 'detached', 'exited']);

function exitOf({ start, code, signal, timed_out, blocks_used, output }: Exit): Exit {
  return { start, code, signal, timed_out, blocks_used, output };
}

const FIRST_DELIVERY_MS = 500;
const MAX_DELIVERY_MS = 5000;
