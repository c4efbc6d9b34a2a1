import type { ServerResponse } from 'node:http';

/**
 * Sends server-sent events, named like Anthropic's and OpenAI's after the object's `type`. Those of Google and Chat
 * Completions have no names; the latter end with a line that is not JSON.
 */
export function sendEvents(response: ServerResponse, events: readonly object[], last?: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const event of events) {
    if ('type' in event) response.write(`event: ${String(event.type)}\n`);
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(last === undefined ? undefined : `data: ${last}\n\n`);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
