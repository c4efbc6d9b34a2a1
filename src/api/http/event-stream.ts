import type { ServerResponse } from 'node:http';
import { streamHeadersOf } from './respond.ts';

/** One server-sent event. `data` has no line breaks. */
export interface StreamEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export function openEventStream(response: ServerResponse): void {
  // Without a length and without chunks, the end of the connection ends the stream.
  response.removeHeader('transfer-encoding');
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close',
    ...streamHeadersOf(response),
  });
  response.write(': baton\n\n');
}

export function renderEvent({ id, event, data }: StreamEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`;
}

/** Renders an event without an id, for a stream with its own way to resume. */
export function renderPlainEvent(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

/** A comment that shows both ends that the connection is alive. */
export const HEARTBEAT = ':\n\n';

/** Parses complete events. Comments and events without id, name or data are skipped. */
export class EventParser {
  #text = '';

  push(text: string): StreamEvent[] {
    const blocks = `${this.#text}${text}`.split('\n\n');
    this.#text = blocks.pop() ?? '';
    return blocks.flatMap(parseEvent);
  }
}

function parseEvent(block: string): StreamEvent[] {
  const fields = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }),
  );
  const [id, event, data] = [fields.get('id'), fields.get('event'), fields.get('data')];
  return id === undefined || event === undefined || data === undefined ? [] : [{ id, event, data }];
}
