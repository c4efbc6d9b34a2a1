import { refusal } from '../http/refusals.ts';

const OPEN_AGAIN = 'Open the page again: baton web';
const NEW_KEY = 'Get a new key: baton web for the page; an editor starts baton acp again.';

export const BAD_KEY = refusal(
  'bad-page-key',
  'the page or editor has no key of this daemon, or its key was revoked',
  NEW_KEY,
);
/** The same for unknown, expired and used codes, so that a guess learns nothing. */
export const BAD_CODE = refusal(
  'bad-page-code',
  'the code is wrong, expired or used',
  `A code is valid for 60 seconds, once. ${OPEN_AGAIN}`,
);
export const TOO_MANY_CODES = refusal('rate-limited', 'too many wrong codes', 'Wait a minute. Then: baton web');
export const BAD_SIGNATURE = refusal(
  'bad-signature',
  'the signature does not fit the request',
  'If the daemon was restarted, request its greeting first. See: baton docs api',
);
export const STALE_REQUEST = refusal(
  'stale-request',
  'the time of the request is more than a minute off',
  'Send the request again; if that does not help, correct the clock.',
);
export const REPLAYED_REQUEST = refusal(
  'replayed-request',
  'a request with this nonce was received before',
  'Sign it again with a new nonce.',
);
export const TOO_MANY_NONCES = refusal(
  'rate-limited',
  'too many signed requests in three minutes',
  'Send fewer, and try again in a moment.',
);
export const NOT_WRITTEN = refusal(
  'store-unavailable',
  'the key cannot be written to the state folder',
  'Make room on its disk. Then: baton web',
);
/** Their answers contain a token that would stay valid after the page's key is revoked. */
export const OPERATIONS_WITH_TOKEN: ReadonlySet<string> = new Set(['task_claim']);

export const NOT_FOR_PAGES = refusal(
  'forbidden',
  'a page may not do this',
  'Use the baton command in a terminal outside of every session.',
);
