/**
 * What the page and the daemon sign for each other. The daemon proves itself before the page sends anything, and every request and response
 * after that is signed too: another server on the page's port learns nothing and can do nothing. Safe in a browser.
 */

/** `Authorization: Baton-Page KEY_ID`. */
export const PAGE_SCHEME = 'Baton-Page';

export const PAGE_HEADERS = {
  /** Milliseconds since 1970, by the clock of the machine that both ends share. */
  time: 'baton-page-time',
  /** Random, used once. */
  nonce: 'baton-page-nonce',
  /** The request's signature by the page's key; base64url, as all of these. */
  signature: 'baton-page-signature',
  /** The response's signature by the daemon's key. */
  answer: 'baton-page-answer',
  /** For the event stream: a JSON object that maps the id of each project to the last entry that the page has. */
  after: 'baton-page-after',
} as const;

export const PAGE_PATHS = { greeting: '/v1/page/greeting', key: '/v1/page/key', events: '/v1/page/events' } as const;

/** A request that is older, or newer, is refused. */
export const MAX_PAGE_SKEW_MS = 60_000;

export interface Greeting {
  /** As the browser names it: `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** Random, chosen by the page. */
  readonly challenge: string;
  /** Random, made at each start of the daemon: a signature for one start counts for no other. */
  readonly instance: string;
}

export function greetingText({ origin, challenge, instance }: Greeting): string {
  return lines('baton-page-greeting-1', origin, challenge, instance);
}

export interface KeyRequest {
  readonly origin: string;
  readonly instance: string;
  readonly code: string;
  /** The raw 32 bytes of the Ed25519 key. */
  readonly publicKey: string;
}

/** Signed by the new key, which proves that the page has it. */
export function keyRequestText({ origin, instance, code, publicKey }: KeyRequest): string {
  return lines('baton-page-key-1', origin, instance, code, publicKey);
}

export interface SignedRequest {
  readonly instance: string;
  readonly method: string;
  /** With the query, as in the request line. */
  readonly path: string;
  /** The header `baton-project-path` as it is sent; empty if there is none. */
  readonly project: string;
  /** The header `idempotency-key`; empty if there is none. */
  readonly key: string;
  /** The header `baton-page-after`; empty if there is none. */
  readonly after: string;
  readonly time: string;
  readonly nonce: string;
  /** SHA-256 of the body, in hex. */
  readonly body: string;
}

export function requestText(request: SignedRequest): string {
  const { instance, method, path, project, key, after, time, nonce, body } = request;
  return lines('baton-page-request-1', instance, method, path, project, key, after, time, nonce, body);
}

/** `status` is the HTTP status; `body` the SHA-256 of the response before compression, in hex. An event stream has an empty body here. */
export function answerText(nonce: string, status: number, body: string): string {
  return lines('baton-page-answer-1', nonce, String(status), body);
}

/** JSON strings contain no line break, so that no field can pretend to be two. */
function lines(...fields: readonly string[]): string {
  return fields.map((field) => JSON.stringify(field)).join('\n');
}
