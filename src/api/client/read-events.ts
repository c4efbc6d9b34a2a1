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
}

interface ReadOptions extends EventsOptions {
  readonly connect: () => Promise<Reached>;
  readonly headers: () => Record<string, string>;
}

/** Reads entries as they are recorded. A broken stream is resumed after the last entry. */
export async function* readEvents(options: ReadOptions): AsyncGenerator<StreamedEntry, ApiError | undefined> {
  let after = options.after ?? 0;
  while (!isCalledOff(options)) {
    const reached = await options.connect();
    if (!reached.ok) return reached.error;
    // Cancelled while it connected.
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
      // A daemon that stops needs a moment before the next one can start.
      await delay(30);
    } finally {
      options.signal?.removeEventListener('abort', stop);
      reached.connection.close();
    }
  }
  return undefined;
}

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
    // The caller resumes the stream if it wants to.
  }
  return undefined;
}

function refusalIn(body: string): ApiError | undefined {
  const { error } = fieldsInJson(body);
  if (!isObject(error)) return UNREADABLE;
  // A daemon that stops is followed by another one.
  return error['code'] === 'stopping' ? undefined : (error as unknown as ApiError); // oxlint-disable-line typescript/no-unsafe-type-assertion
}

const UNREADABLE: ApiError = {
  code: 'no-answer',
  message: 'the answer cannot be read',
  hint: 'Restart the daemon: baton down, then baton up',
};
