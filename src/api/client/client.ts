import { fieldOf, numberOf } from '../../protocol/shape/read-unknown.ts';
import type { Answer, ApiError, OrError } from '../answer.ts';
import type { InputOf, OperationName, ResultOf } from '../operations/registry.ts';
import type { Claim } from '../operations/tasks.ts';
import { makePass, needsPass, PASS_HEADER } from '../operator-pass.ts';
import { isKeepable, keepCall, keptAnswer, listKept, notKeptAnswer } from '../outbox.ts';
import { clearDownIntent, hasOwnSessions, readToken, recordDownIntent, stateFiles } from '../state-folder.ts';
import { VERSION } from '../version.ts';
import { CallChannel, type ChannelCall } from './channel.ts';
import { delay, type HttpRequest, isStopping, noResponseError, parseAnswer } from './http.ts';
import {
  findDaemon,
  notAnsweringError,
  notStoppingError,
  reachDaemon,
  type Reached,
  type ReachOptions,
} from './reach.ts';
import { type EventsOptions, readEvents, type StreamedEntry } from './read-events.ts';

export interface ClientOptions extends Omit<ReachOptions, 'until'> {
  /** A given token, or one from the state folder, or the reason to refuse every call. */
  readonly token:
    | { readonly given: string }
    | { readonly ofFolder: 'operator' | 'worker'; readonly principal?: string | undefined }
    | { readonly refused: ApiError };
  /** A folder in the repository. Sessions omit it, because their token names the project. */
  readonly projectPath?: string;
  /** How long to try to reach a daemon before a call is kept or fails. */
  readonly reachMs: number;
  /** How long the daemon may take to answer or to open a channel. One minute if absent. */
  readonly answerMs?: number;
}

export interface Health {
  readonly version: string;
  readonly pid: number;
  readonly started: string;
  readonly state_dir: string;
}

export interface CallOptions {
  /** A retry with the same key returns the first answer. Random if absent. */
  readonly key?: string;
  readonly token?: string;
  readonly projectPath?: string;
  readonly signal?: AbortSignal | undefined;
  readonly conversation?: string;
  /** How long to wait for the answer, in addition to `wait_ms` of the input. */
  readonly timeoutMs?: number;
}

/** The client of a daemon. Concurrent calls share one connection. */
export class Client {
  readonly #options: ClientOptions;
  #channels: CallChannel[] = [];
  #opening: Promise<OpenedChannel> | undefined;
  #foldersToken: string | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Calls an operation. Repeats a lost call with the same key, and keeps an undeliverable write in the outbox. */
  async call<N extends OperationName>(
    operation: N,
    input: InputOf<N> | string,
    given: CallOptions = {},
  ): Promise<Answer<ResultOf<N>>> {
    // A daemon of another version refuses the call, and one of this version has the same types.
    return (await this.forward(operation, input, given)) as Answer<ResultOf<N>>; // oxlint-disable-line typescript/no-unsafe-type-assertion
  }

  async forward(operation: string, input: unknown, given: CallOptions = {}): Promise<Answer> {
    if (this.#refusal !== undefined) return { ok: false, error: this.#refusal };
    const body = typeof input === 'string' ? input : JSON.stringify(input ?? {});
    const key = given.key ?? crypto.randomUUID();
    const options = await this.#addClaimToken(operation, body, given);
    const answer = await this.#ask({ operation, key, body }, options);
    if (operation === 'task_claim' && answer.ok) await this.#saveClaim(answer.result as Claim, options); // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (answer.ok || !NO_RESPONSE_CODES.has(answer.error.code) || !isKeepable(operation, body)) return answer;
    const token = options.token ?? this.#token();
    if (token === undefined) return answer;
    const projectPath = options.projectPath ?? this.#options.projectPath ?? null;
    const call = { v: 1, operation, input: body, key, token, projectPath, keptAt: new Date().toISOString() } as const;
    const { outbox } = stateFiles(this.#options.stateDir);
    return keepCall(outbox, call) ? keptAnswer(operation) : notKeptAnswer(outbox, call, answer.error);
  }

  async health(options: CallOptions = {}): Promise<Answer<Health>> {
    return (await this.#request({ method: 'GET', path: '/v1/health' }, options)) as Answer<Health>; // oxlint-disable-line typescript/no-unsafe-type-assertion
  }

  /** Streams the entries after a number, then each new one. Returns why the stream ended. */
  events(options: EventsOptions & CallOptions = {}): AsyncGenerator<StreamedEntry, ApiError | undefined> {
    const awayMs = this.#options.autostart ? 0 : this.#options.reachMs;
    const headers = (): Record<string, string> => this.#headers(options);
    return readEvents({ connect: async () => this.#reach(), headers, awayMs, ...options });
  }

  /** Stops the daemon and waits until it has ended. `agents` is how many agents keep running. */
  async stop(options: CallOptions = {}): Promise<Answer<{ readonly wasRunning: boolean; readonly agents: number }>> {
    if (this.#refusal !== undefined) return { ok: false, error: this.#refusal };
    const { stateDir } = this.#options;
    // Recorded first, because a restarting daemon reads it.
    recordDownIntent(stateDir);
    const connection = await findDaemon(stateDir);
    if (connection === undefined) return { ok: true, result: { wasRunning: false, agents: 0 } };
    const request = { method: 'POST', path: '/v1/stop', headers: this.#headers(options), body: '{}' } as const;
    const received = await connection.send(request, { timeoutMs: options.timeoutMs ?? 60_000 });
    if (!received.ok && received.lost === 'timeout') return { ok: false, error: notStoppingError(stateDir) };
    if (!received.ok && received.lost !== 'closed') return { ok: false, error: noResponseError(received.lost) };
    const answer = received.ok ? parseAnswer(received.body) : undefined;
    if (answer?.ok === false) {
      clearDownIntent(stateDir);
      return answer;
    }
    await connection.closed();
    return { ok: true, result: { wasRunning: true, agents: numberOf(fieldOf(answer?.result, 'agents')) } };
  }

  async issueWorkerToken(principal: string): Promise<Answer<{ readonly token: string }>> {
    const body = JSON.stringify({ principal });
    const answer = await this.#request({ method: 'POST', path: '/v1/worker-token', body }, {});
    if (!answer.ok) return answer;
    const token = fieldOf(answer.result, 'token');
    return typeof token === 'string'
      ? { ok: true, result: { token } }
      : { ok: false, error: noResponseError('closed') };
  }

  async deliverKept(): Promise<void> {
    if (listKept(stateFiles(this.#options.stateDir).outbox).length === 0) return;
    await this.#request({ method: 'POST', path: '/v1/deliver', body: '{}' }, { timeoutMs: 5000 });
  }

  async reach(): Promise<ApiError | undefined> {
    if (this.#options.url !== undefined) {
      const reached = await this.#reach();
      if (reached.ok) reached.connection.close();
      return reached.ok ? undefined : reached.error;
    }
    const opened = await this.#channel(performance.now() + this.#options.reachMs);
    return opened.ok || !NO_RESPONSE_CODES.has(opened.error.code) ? undefined : opened.error;
  }

  close(): void {
    for (const channel of this.#channels.splice(0)) channel.close();
  }

  /** In a person's own session with Baton's hooks, adds the token of the session's claim to a call without a token. */
  async #addClaimToken(operation: string, body: string, options: CallOptions): Promise<CallOptions> {
    const { stateDir, env, token: own } = this.#options;
    if (options.token !== undefined || !('ofFolder' in own) || !hasOwnSessions(stateDir)) return options;
    const { findOwnToken } = await import('./own-session.ts');
    const token = findOwnToken({ stateDir, env, conversation: options.conversation }, operation, body);
    return token === undefined ? options : { ...options, token };
  }

  async #saveClaim(claim: Claim, { conversation }: CallOptions): Promise<void> {
    const { stateDir, env } = this.#options;
    if (!hasOwnSessions(stateDir)) return;
    (await import('./own-session.ts')).saveGrantedClaim({ stateDir, env, conversation }, claim);
  }

  async #ask(call: ChannelCall, options: CallOptions): Promise<Answer> {
    const { reachMs, url } = this.#options;
    const sent = this.#sendOptions(call, options);
    if (url !== undefined) {
      const request = { method: 'POST', path: `/v1/${call.operation}`, body: call.body } as const;
      return this.#request(request, { ...options, ...sent }, { 'idempotency-key': call.key });
    }
    const { token, projectPath } = options;
    let until = performance.now() + reachMs;
    for (let losses = 0; ;) {
      const opened = await this.#channel(until);
      if (!opened.ok) return opened;
      const received = await opened.channel.call({ ...call, token, projectPath }, sent);
      // A long call that lost its daemon gets the full time again to find the next one.
      if (!received.ok && performance.now() > until) [until, losses] = [performance.now() + reachMs, 0];
      if (received.ok) {
        const answer = parseAnswer(received.body);
        if (!isStopping(answer) || performance.now() > until) return answer;
        // The next daemon can start only after this one has ended.
        opened.channel.close();
        await delay(STOPPING_MS);
      } else if (received.lost !== 'closed' || ++losses > MAX_LOSSES) {
        return { ok: false, error: this.#noResponse(received.lost) };
      }
    }
  }

  /** Returns a channel with room for another call. One call opens it or starts the daemon; the others wait. */
  async #channel(until: number): Promise<OpenedChannel> {
    for (;;) {
      this.#channels = this.#channels.filter(({ isOpen }) => isOpen);
      const channel = this.#channels.find(({ load }) => load < CALLS_PER_CHANNEL);
      if (channel !== undefined) return { ok: true, channel };
      this.#opening ??= this.#open(until).finally(() => {
        this.#opening = undefined;
      });
      const opened = await this.#opening;
      if (!opened.ok) return opened;
    }
  }

  async #open(until: number): Promise<OpenedChannel> {
    for (let losses = 0; ;) {
      const reached = await this.#reach(until);
      if (!reached.ok) return reached;
      const timeoutMs = this.#options.answerMs ?? Math.max(HELLO_MS, until - performance.now());
      const opened = await CallChannel.open(reached.connection, this.#headers({}), timeoutMs);
      if (opened.ok) {
        this.#channels.push(opened.channel);
        return opened;
      }
      const { received } = opened;
      const answer = received.ok ? parseAnswer(received.body) : undefined;
      if (answer !== undefined && !answer.ok && !(isStopping(answer) && performance.now() < until)) return answer;
      if (!received.ok && (received.lost !== 'closed' || ++losses > MAX_LOSSES))
        return { ok: false, error: this.#noResponse(received.lost) };
      await delay(STOPPING_MS);
    }
  }

  async #request(
    request: Omit<HttpRequest, 'headers'>,
    options: CallOptions,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const until = performance.now() + this.#options.reachMs;
    for (;;) {
      const reached = await this.#reach();
      if (!reached.ok) return reached;
      const { timeoutMs = this.#options.answerMs ?? ANSWER_MS, signal } = options;
      const headers = { ...this.#headers(options), ...more };
      const received = await reached.connection.send({ ...request, headers }, { timeoutMs, signal });
      reached.connection.close();
      const answer = received.ok ? parseAnswer(received.body) : undefined;
      const isGoing = answer === undefined ? !received.ok && received.lost === 'closed' : isStopping(answer);
      if (answer !== undefined && !isGoing) return answer;
      if (!received.ok && !isGoing) return { ok: false, error: this.#noResponse(received.lost) };
      if (performance.now() > until) return answer ?? { ok: false, error: noResponseError('closed') };
      await delay(STOPPING_MS);
    }
  }

  async #reach(until = performance.now() + this.#options.reachMs): Promise<Reached> {
    if (this.#refusal !== undefined) return { ok: false, error: this.#refusal };
    return reachDaemon({ ...this.#options, until });
  }

  #sendOptions({ body }: ChannelCall, { signal, timeoutMs = this.#options.answerMs ?? ANSWER_MS }: CallOptions) {
    const waitMs = Number(/"wait_ms"\s*:\s*(\d{1,9})/.exec(body)?.[1] ?? 0);
    return { timeoutMs: timeoutMs + waitMs, signal };
  }

  /** With a supervisor in between, the client does not know which daemon failed to answer. */
  #noResponse(lost: Parameters<typeof noResponseError>[0]): ApiError {
    const { stateDir, url } = this.#options;
    return lost === 'timeout' && url === undefined ? notAnsweringError(stateDir) : noResponseError(lost);
  }

  get #refusal(): ApiError | undefined {
    return 'refused' in this.#options.token ? this.#options.token.refused : undefined;
  }

  /** Headers for one connection, because a pass is valid once. */
  #headers({ token = this.#token(), projectPath = this.#options.projectPath }: CallOptions): Record<string, string> {
    const pass = this.#options.url === undefined && needsPass(token) ? makePass(this.#options.stateDir) : undefined;
    return {
      'baton-version': VERSION,
      ...(pass === undefined ? {} : { [PASS_HEADER]: pass }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(projectPath === undefined ? {} : { 'baton-project-path': encodeURI(projectPath) }),
    };
  }

  #token(): string | undefined {
    const { token, stateDir } = this.#options;
    if ('refused' in token) return undefined;
    if ('given' in token) return token.given;
    // Read only now, because the first daemon of a folder creates the token.
    return (this.#foldersToken ??= readToken(stateDir, token.ofFolder, token.principal));
  }
}

type OpenedChannel = OrError<{ readonly channel: CallChannel }>;
/** With these codes the client does not know whether the daemon received the call. */
const NO_RESPONSE_CODES: ReadonlySet<string> = new Set(['daemon-away', 'no-answer', 'stopping']);
const MAX_LOSSES = 5;
const ANSWER_MS = 60_000;
/** Timeout for the first answer. A daemon that accepts connections runs, but may be busy. */
const HELLO_MS = 5000;
const STOPPING_MS = 30;

const CALLS_PER_CHANNEL = 256;
