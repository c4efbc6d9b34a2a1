import type { Socket } from 'node:net';
import { fieldsInJson, isObject } from '../../protocol/shape/read-unknown.ts';
import type { ApiError } from '../answer.ts';
import { EventParser } from '../http/event-stream.ts';
import { delay } from './http.ts';
import type { Reached } from './reach.ts';

export interface StreamedEntry {
  readonly seq: number;
  readonly type: string;
  /** Canonical JSON. */
  readonly json: string;
}

export interface EventsOptions {
  readonly after?: number;
  readonly signal?: AbortSignal;
  /**
   * How long the stream waits for an unavailable daemon before it ends; a restart takes less. Default: the `reachMs` of
   * a client that starts no daemon.
   */
  readonly awayMs?: number;
}

interface ReadOptions extends EventsOptions {
  readonly connect: () => Promise<Reached>;
  readonly headers: () => Record<string, string>;
}

/**
 * Streams entries as they are recorded. A broken stream resumes after the last entry as soon as a daemon listens again.
 * Returns the error that ended the stream; undefined if `signal` aborted.
 */
export async function* readEvents(options: ReadOptions): AsyncGenerator<StreamedEntry, ApiError | undefined> {
  const { awayMs = 0 } = options;
  let after = options.after ?? 0;
  let answeredAt = performance.now();
  while (!isCalledOff(options)) {
    const reached = await options.connect();
    if (!reached.ok) {
      const isLate = performance.now() - answeredAt >= awayMs;
      if (isLate || reached.error.code !== 'daemon-away') return reached.error;
      // No event reports that another process starts, so this polls.
      await delay(RETRY_MS);
      continue;
    }
    // Cancelled while connecting.
    if (isCalledOff(options)) {
      reached.connection.close();
      break;
    }
    const headers = { ...options.headers(), accept: 'text/event-stream', 'last-event-id': String(after) };
    const socket = reached.connection.stream({ method: 'GET', path: '/v1/events', headers });
    const stop = (): void => void socket.destroy();
    options.signal?.addEventListener('abort', stop, { once: true });
    try {
      const refusal = yield* readStream(socket, (seq) => {
        after = seq;
      });
      if (refusal !== undefined) return refusal;
      answeredAt = performance.now();
      // A stopping daemon needs a moment to end before the next one can start.
      await delay(STOPPING_MS);
    } finally {
      options.signal?.removeEventListener('abort', stop);
      reached.connection.close();
    }
  }
  return undefined;
}

const STOPPING_MS = 30;
const RETRY_MS = 100;

function isCalledOff({ signal }: EventsOptions): boolean {
  return signal?.aborted === true;
}

async function* readStream(
  socket: Socket,
  onSeq: (seq: number) => void,
): AsyncGenerator<StreamedEntry, ApiError | undefined> {
  const decoder = new TextDecoder();
  const parser = new EventParser();
  let text = '';
  let hasHead = false;
  try {
    for await (const chunk of socket.iterator({ destroyOnReturn: true })) {
      text += decoder.decode(chunk as Buffer, { stream: true }); // oxlint-disable-line typescript/no-unsafe-type-assertion
      if (!hasHead) {
        const end = text.indexOf('\r\n\r\n');
        if (end < 0) continue;
        hasHead = true;
        const isStream = text.startsWith('HTTP/1.1 200');
        text = text.slice(end + 4);
        if (!isStream) return refusalIn(text);
      }
      for (const { id, event, data } of parser.push(text)) {
        onSeq(Number(id));
        yield { seq: Number(id), type: event, json: data };
      }
      text = '';
    }
  } catch {
    // The caller decides whether to resume the stream.
  }
  return undefined;
}

function refusalIn(body: string): ApiError | undefined {
  const { error } = fieldsInJson(body);
  if (!isObject(error)) return UNREADABLE;
  // Another daemon follows one that stops.
  return error['code'] === 'stopping' ? undefined : (error as unknown as ApiError); // oxlint-disable-line typescript/no-unsafe-type-assertion
}

const UNREADABLE: ApiError = {
  code: 'no-answer',
  message: 'the answer cannot be read',
  hint: 'Restart the daemon: baton down, then baton up',
};
