/**
 * A token is `m.`, `o.` or `w.` with 43 characters, or letter, payload and HMAC joined by dots; a dot may be escaped.
 * The pattern takes linear time.
 */
const DOT = String.raw`(?:\.|%2[Ee]|\\u002[Ee])`;
const WORD = '[A-Za-z0-9_-]';
/**
 * A signed token. Its payload is JSON, and `{"` is `eyJ` in base64. A payload that is cut off, or has no HMAC, matches
 * too.
 */
const SIGNED = `[savw]${DOT}eyJ${WORD}{16,4096}(?:${DOT}${WORD}{0,128})?`;
/**
 * A plain token: 43 random characters contain both cases; names of files, packages and branches of that length rarely
 * do.
 */
const RANDOM = `(?=[a-z0-9_-]{0,42}[A-Z])(?=[A-Z0-9_-]{0,42}[a-z])${WORD}{43}(?!${WORD})`;
const OTHER_PAYLOAD = `[savw]${DOT}${WORD}{1,4096}${DOT}${RANDOM}`;
const PLAIN = `[mow]${DOT}${RANDOM}`;
const CUT_OFF = `[mow]${DOT}(?=[a-z0-9_-]{0,42}[A-Z])(?=[A-Z0-9_-]{0,42}[a-z])(?=[A-Za-z_-]{0,42}\\d)${WORD}{24,42}(?=…|$)`;
/**
 * The start of a token. Its letter does not follow a word character, except the end of an escape (`\n`, `\u003d`,
 * `%3D`) or a terminal colour.
 */
const START = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[bfnrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\[[\d;]{0,16}m))`;
export const BATON_TOKEN = new RegExp(`${SIGNED}|${START}(?:${OTHER_PAYLOAD}|${PLAIN}|${CUT_OFF})`, 'g');
export const REDACTED_TOKEN = '[redacted:baton-token]';

export function redactTokens(text: string, known: readonly string[] = []): string {
  let clean = mayHold(text) ? text.replace(BATON_TOKEN, REDACTED_TOKEN) : text;
  for (const form of known) if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED_TOKEN);
  return clean;
}

/**
 * Returns the secret part of a token (or a secret itself), and its three possible forms inside a longer text in base64.
 */
export function secretForms(token: string): string[] {
  const secret = secretPartOf(token);
  return secret.length < SHORTEST ? [] : [secret, ...base64Of(secret)];
}

export function secretPartOf(token: string): string {
  return token.slice(token.lastIndexOf('.') + 1);
}

/** Baton's secrets are not shorter; a shorter text may be an ordinary word. */
const SHORTEST = 16;

/**
 * One form for each offset within a group of three bytes, without the edge characters, which depend on the neighbours.
 */
function base64Of(ascii: string): string[] {
  return [0, 1, 2].map((before) => {
    const whole = Math.floor(((before + ascii.length) * 8) / 6);
    return btoa('-'.repeat(before) + ascii).slice(Math.ceil((before * 8) / 6), whole);
  });
}

/** A cheap check before the patterns, which are slow in a supervisor: it runs without a JIT compiler. */
function mayHold(text: string): boolean {
  return SIGNS.some((sign) => text.includes(sign)) || ['m.', 'o.', 'w.'].some((start) => hasBody(text, start));
}

const SIGNS = ['.eyJ', '%2E', '%2e', String.raw`\u002e`, String.raw`\u002E`];
const BODY = /[A-Za-z0-9_-]{24}/y;

function hasBody(text: string, start: string): boolean {
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + 1)) {
    BODY.lastIndex = at + start.length;
    if (BODY.test(text)) return true;
  }
  return false;
}
