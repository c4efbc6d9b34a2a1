import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A request of `node:http` whose body has been read already, as the web's standard wants it. */
export function toWebRequest(incoming: IncomingMessage, body: string | undefined, gone: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const method = incoming.method ?? 'GET';
  const url = new URL(incoming.url ?? '/', 'http://localhost');
  return new Request(url, { method, headers, signal: gone, ...(body === undefined ? {} : { body }) });
}

/** Sends a response, as it comes, until it ends or is cut off. */
export async function sendResponse(response: Response, outgoing: ServerResponse, cutOff: AbortSignal): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  if (response.body === null) {
    outgoing.end();
    return;
  }
  // Whoever went away in the middle of a stream has ended it; that is no failure.
  await pipeline(Readable.fromWeb(response.body), outgoing, { signal: cutOff }).catch(() => {});
}

/** Aborted when the client closes the connection before it has been answered. */
export function closeSignal(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  return gone.signal;
}
