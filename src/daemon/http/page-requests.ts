import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { readBody } from '../../api/http/request.ts';
import { sendAnswer } from '../../api/http/respond.ts';
import { PAGE_PATHS } from '../../api/page-access.ts';
import { fieldsInJson } from '../../protocol/shape/read-unknown.ts';
import { isChallenge } from '../pages/page-access.ts';
import type { PageDoor } from '../pages/page-ledgers.ts';
import type { CallerIdentity } from '../tokens.ts';
import type { SessionGuard } from './access.ts';
import { findForeignName, type Listener } from './page-caller.ts';
import { servePage } from './page.ts';
import { findPeerUser } from './peer-session.ts';
import { refusal } from './refusals.ts';

/**
 * Redirects a browser that used another name of this machine to the page's own. Returns false if the path does not
 * belong to the page.
 */
export function servePageAt(request: IncomingMessage, response: ServerResponse, listener: Listener): boolean {
  if (request.headers['service-worker'] === 'script') {
    response.writeHead(200, { 'content-type': 'text/javascript', 'cache-control': 'no-store' }).end(NO_SERVICE_WORKER);
    return true;
  }
  const address = findPageAddress(request, listener);
  if (address === undefined) return servePage(request, response);
  response.writeHead(308, { location: address, 'cache-control': 'no-store' }).end();
  return true;
}

/**
 * Removes a service worker that another program installed while it had the port. Such a worker would see every request
 * of the page, which has none itself.
 */
const NO_SERVICE_WORKER =
  "addEventListener('install', () => skipWaiting());\naddEventListener('activate', () => registration.unregister());\n";

/** Returns the address to which a browser under another host name is redirected. The browser keeps the part after #. */
function findPageAddress(
  { method, url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  { port }: Listener,
): string | undefined {
  const isOther =
    port !== undefined && [`localhost:${port}`, `[::1]:${port}`].includes(headers.host?.toLowerCase() ?? '');
  return isOther && method === 'GET' && !/^\/(?:v1|mcp|metrics)(?:[/?]|$)/.test(url)
    ? `http://127.0.0.1:${port}${url}`
    : undefined;
}

/** The two requests that a page sends before it has a key. */
export function isPageRequest({ method, url }: Pick<IncomingMessage, 'method' | 'url'>, { port }: Listener): boolean {
  return port !== undefined && method === 'POST' && (url === PAGE_PATHS.greeting || url === PAGE_PATHS.key);
}

export async function handlePageRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { pages, ledgers }: PageDoor,
  { listener, guard, operator }: { listener: Listener; guard: SessionGuard; operator: CallerIdentity },
): Promise<void> {
  const foreign = findForeignName(request.headers, listener.port);
  if (foreign !== undefined) return sendAnswer(response, foreign, { closes: true });
  const body = await readBody(request, MAX_BYTES);
  if (body === 'gone') return;
  if (!body.ok) return sendAnswer(response, body, { closes: true });
  const { challenge, code, public_key: publicKey, signature } = fieldsInJson(body.bytes.toString('utf8'));
  if (request.url === PAGE_PATHS.greeting) {
    if (!isChallenge(challenge)) return sendAnswer(response, BAD_CHALLENGE);
    return sendAnswer(response, { ok: true, result: pages.greet(challenge) });
  }
  if (typeof code !== 'string' || typeof publicKey !== 'string' || typeof signature !== 'string')
    return sendAnswer(response, BAD_KEY_REQUEST);
  // A session that reads the code, for example from the browser's arguments, cannot use it.
  const error = guard.findRefusal(operator, request.socket, request.headers);
  if (error !== undefined) return sendAnswer(response, { ok: false, error });
  if (isOfOtherUser(request.socket)) return sendAnswer(response, OTHER_USER);
  const added = pages.requestKey({ code, publicKey, signature });
  if (!added.ok) return sendAnswer(response, added);
  const { key, use } = added;
  await ledgers.nameAtOpening(key, use);
  sendAnswer(response, { ok: true, result: { key_id: key.id, name: key.name } });
}

/** Whether another user of the machine sent the request. Other users can see the code in the browser's arguments. */
function isOfOtherUser({ remoteAddress, remotePort, localAddress, localPort }: Socket): boolean {
  if (remoteAddress === undefined || remotePort === undefined || localAddress === undefined) return true;
  const user = findPeerUser({ remoteAddress, remotePort, localAddress, localPort: localPort ?? 0 });
  // A process that sends a code and exits may belong to any user, and the guard may have checked this connection
  // earlier.
  if (user === 'gone') return true;
  return user !== undefined && user !== 0 && user !== process.getuid?.();
}

const OTHER_USER = refusal(
  'other-user',
  'the browser belongs to another user of this machine',
  'Open the page as the user of the daemon: baton web',
);
const BAD_CHALLENGE = refusal('bad-request', 'the challenge must have 16 to 128 characters of base64url');
const BAD_KEY_REQUEST = refusal('bad-request', 'the body has the texts code, public_key and signature');
const MAX_BYTES = 4096;
