import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type BodyResult, readBody } from '../../api/http/request.ts';
import { OPERATIONS } from '../../api/operations/registry.ts';
import { PAGE_HEADERS, PAGE_SCHEME } from '../../api/page-access.ts';
import type { PageKey } from '../pages/key-file.ts';
import type { PageAccess, PageSignature } from '../pages/page-access.ts';
import { acceptsGzip, finishResponses } from './finish-response.ts';
import { BAD_HOST, BAD_ORIGIN, type Refusal } from './refusals.ts';

/** The listener that received a request. The Unix socket has no port. */
export interface Listener {
  readonly port: number | undefined;
}

/** A page with a known key whose request is not verified yet. */
export interface PageCaller {
  readonly key: PageKey;
  readonly signature: PageSignature;
}

/** `Authorization: Baton-Page KEY_ID`. */
export function findPageKeyId({ authorization }: IncomingHttpHeaders): string | undefined {
  return authorization?.startsWith(`${PAGE_SCHEME} `) === true
    ? authorization.slice(PAGE_SCHEME.length + 1).trim()
    : undefined;
}

/** Undefined for other callers, unknown keys, and requests under another host name than the page's. */
export function findPageCaller(
  { headers }: Pick<IncomingMessage, 'headers'>,
  { port }: Listener,
  pages: PageAccess,
): PageCaller | undefined {
  const id = findPageKeyId(headers);
  if (id === undefined || findForeignName(headers, port) !== undefined) return undefined;
  const key = pages.findKey(id);
  const text = (name: string): string => textOf(headers, name);
  const { time, nonce, signature } = PAGE_HEADERS;
  return key && { key, signature: { time: text(time), nonce: text(nonce), signature: text(signature) } };
}

/** The page has a single origin, so a request under another name of this machine is not its own. */
export function findForeignName(headers: IncomingHttpHeaders, port: number | undefined): Refusal | undefined {
  if (port === undefined || headers.host !== `127.0.0.1:${port}`) return BAD_HOST;
  return headers.origin === undefined || headers.origin === `http://127.0.0.1:${port}` ? undefined : BAD_ORIGIN;
}

/** Reads the body and verifies the request before anything else happens. */
export async function readSignedBody(
  request: IncomingMessage,
  { key, signature }: PageCaller,
  pages: PageAccess,
): Promise<BodyResult | 'gone'> {
  const { headers, method = '', url: path = '' } = request;
  const stale = pages.findStale(signature.time);
  if (stale !== undefined) return stale;
  const body = await readBody(request, OPERATIONS.get(path.slice('/v1/'.length))?.maxBytes);
  if (body === 'gone' || !body.ok) return body;
  const [project, idempotency, after] = ['baton-project-path', 'idempotency-key', PAGE_HEADERS.after];
  const signed = {
    project: textOf(headers, project),
    key: textOf(headers, idempotency),
    after: textOf(headers, after),
  };
  return pages.check(key, signature, { method, path, ...signed, body: body.bytes }) ?? body;
}

function textOf(headers: IncomingHttpHeaders, name: string): string {
  return String(headers[name] ?? '');
}

/** Signs every response to a page, including refusals. Compresses large responses for any client that accepts that. */
export function prepareFinish(
  request: IncomingMessage,
  response: ServerResponse,
  listener: Listener,
  pages: PageAccess,
): void {
  const gzips = acceptsGzip(request.headers['accept-encoding']);
  const page = findPageCaller(request, listener, pages);
  if (!gzips && page === undefined) return;
  finishResponses(response, gzips, page && ((status, body) => pages.signAnswer(page.signature.nonce, status, body)));
}
