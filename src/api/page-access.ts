/**
 * What the page and the daemon sign for each other. The daemon proves itself before the page sends anything, and both
 * sign every later message. So another server on the page's port learns nothing and can do nothing. Runs in a browser
 * too.
 */

/** `Authorization: Baton-Page KEY_ID`. */
export const PAGE_SCHEME = 'Baton-Page';

export const PAGE_HEADERS = {
  /** Milliseconds since 1970, by the machine's clock, which both ends share. */
  time: 'baton-page-time',
  /** Random, used once. */
  nonce: 'baton-page-nonce',
  /** The request's signature by the page's key, in base64url like all of these. */
  signature: 'baton-page-signature',
  /** The response's signature by the daemon's key. */
  answer: 'baton-page-answer',
  /** For the event stream: a JSON object from project id to the last entry that the page has. */
  after: 'baton-page-after',
} as const;

export const PAGE_PATHS = { greeting: '/v1/page/greeting', key: '/v1/page/key', events: '/v1/page/events' } as const;

/** A request is refused if its time differs from the daemon's clock by more than this. */
export const MAX_PAGE_SKEW_MS = 60_000;

export interface Greeting {
  /** The origin as the browser names it: `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** Random, chosen by the page. */
  readonly challenge: string;
  /** Random for each start of the daemon, so that a signature is valid for one start only. */
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

/** Signed by the new key, to prove that the page holds it. */
export function keyRequestText({ origin, instance, code, publicKey }: KeyRequest): string {
  return lines('baton-page-key-1', origin, instance, code, publicKey);
}

export interface SignedRequest {
  readonly instance: string;
  readonly method: string;
  /** With the query, as in the request line. */
  readonly path: string;
  /** The header `baton-project-path` as sent; empty if absent. */
  readonly project: string;
  /** The header `idempotency-key`; empty if absent. */
  readonly key: string;
  /** The header `baton-page-after`; empty if absent. */
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

/**
 * `status` is the HTTP status, `body` the SHA-256 of the uncompressed response in hex. An event stream has an empty body
 * here.
 */
export function answerText(nonce: string, status: number, body: string): string {
  return lines('baton-page-answer-1', nonce, String(status), body);
}

/** A JSON string contains no line break, so one field cannot pass for two. */
function lines(...fields: readonly string[]): string {
  return fields.map((field) => JSON.stringify(field)).join('\n');
}
