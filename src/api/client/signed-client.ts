import type { Answer, ApiError, OrError } from '../answer.ts';
import { EventParser } from '../http/event-stream.ts';
import { type InputOf, type OperationName, OPERATIONS, type ResultOf } from '../operations/registry.ts';
import type { CallOptions, Client } from './client.ts';
import { delay, isStopping, parseAnswer } from './http.ts';
import type { EventsOptions, StreamedEntry } from './read-events.ts';
import { SignedDoor } from './signed-door.ts';

/** The part of the client that concerns one project. */
export type ProjectCalls = Pick<Client, 'call' | 'events'>;

/** Acts for the operator with its own key, which entries name, and which can be listed and revoked. */
export class SignedClient {
  readonly #door: SignedDoor;

  private constructor(door: SignedDoor) {
    this.#door = door;
  }

  /** Consumes the code in the address that `page_open` returned. */
  static async open(url: string): Promise<OrError<{ readonly client: SignedClient }>> {
    const opened = await SignedDoor.open(url);
    return opened.ok ? { ok: true, client: new SignedClient(opened.door) } : opened;
  }

  inProject(projectPath: string): ProjectCalls {
    return {
      call: async (operation, input, options) => this.call(operation, input, { projectPath, ...options }),
      events: (options) => this.events({ projectPath, ...options }),
    };
  }

  /** Repeats a lost write with the same idempotency key while the daemon restarts. Reports a lost read at once. */
  async call<N extends OperationName>(
    operation: N,
    input: InputOf<N> | string,
    { key = crypto.randomUUID(), projectPath = '', signal, timeoutMs = ANSWER_MS }: CallOptions = {},
  ): Promise<Answer<ResultOf<N>>> {
    const body = typeof input === 'string' ? input : JSON.stringify(input);
    const path = `/v1/${operation}`;
    const until = performance.now() + (OPERATIONS.get(operation)?.kind === 'write' ? REPEAT_MS : 0);
    for (;;) {
      const timeout = AbortSignal.timeout(timeoutMs);
      const given = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
      const sent = await this.#door.send({
        method: 'POST',
        path,
        project: encodeURI(projectPath),
        key,
        body,
        signal: given,
      });
      const answer = sent.ok ? parseAnswer(sent.text) : sent;
      const isLost = !answer.ok && (isStopping(answer) || LOST_CODES.has(answer.error.code));
      // A daemon of another version refuses the call, and one of this version has the same types.
      if (!isLost || performance.now() > until || signal?.aborted === true) return answer as Answer<ResultOf<N>>; // oxlint-disable-line typescript/no-unsafe-type-assertion
      await delay(RETRY_MS);
    }
  }

  /** Opens one stream of entries. Returns why it was refused; undefined when it ended. */
  async *events({ after = 0, projectPath = '', signal }: EventsOptions & CallOptions = {}): AsyncGenerator<
    StreamedEntry,
    ApiError | undefined
  > {
    const project = encodeURI(projectPath);
    const asked = {
      method: 'GET',
      path: '/v1/events',
      project,
      key: '',
      body: '',
      lastEventId: after,
      signal,
    } as const;
    const sent = await this.#door.send(asked);
    if (!sent.ok) return sent.error;
    const { response, text } = sent;
    if (response.status !== 200 || response.body === null) {
      const refused = parseAnswer(text);
      return refused.ok || isStopping(refused) ? undefined : refused.error;
    }
    const parser = new EventParser();
    try {
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream()))
        for (const { id, event, data } of parser.push(chunk)) yield { seq: Number(id), type: event, json: data };
    } catch {
      // The caller decides whether to resume the stream.
    }
    return undefined;
  }

  /** Revokes the key at the daemon. The client is unusable afterwards. */
  async revoke(): Promise<void> {
    await this.call('page_key_revoke', { name: this.#door.id }, { signal: AbortSignal.timeout(REVOKE_MS) });
  }
}

/** With these codes the client does not know whether the daemon received the call. */
const LOST_CODES: ReadonlySet<string> = new Set(['daemon-away', 'no-answer']);
/** How long a write is repeated. A restart takes less. */
const REPEAT_MS = 15_000;
const RETRY_MS = 200;
const ANSWER_MS = 60_000;
const REVOKE_MS = 1000;
