/**
 * What Baton's own tokens look like wherever a program writes them down: `o.` and `w.` with 43 characters of base64url, or a letter, a
 * payload and an HMAC of 43 characters, joined by dots. In addresses a dot may be `%2E`, and in escaped JSON `\u002e`. Each pattern is
 * linear: a fixed beginning, then classes of characters with bounds that exclude what follows them.
 */
const DOT = String.raw`(?:\.|%2[Ee]|\\u002[Ee])`;
const WORD = '[A-Za-z0-9_-]';
/** A payload is JSON: `{"` is `eyJ` in base64. One that was cut off, or has lost its HMAC, goes as well. */
const SIGNED = `[savw]${DOT}eyJ${WORD}{16,4096}(?:${DOT}${WORD}{0,128})?`;
/** 43 characters at random have both cases; names of files, packages and branches that happen to be as long mostly have not. */
const RANDOM = `(?=[a-z0-9_-]{0,42}[A-Z])(?=[A-Z0-9_-]{0,42}[a-z])${WORD}{43}(?!${WORD})`;
const OTHER_PAYLOAD = `[savw]${DOT}${WORD}{1,4096}${DOT}${RANDOM}`;
const PLAIN = `[ow]${DOT}${RANDOM}`;
/** At the end of a text that was shortened. */
const CUT_OFF = `[ow]${DOT}(?=[a-z0-9_-]{0,42}[A-Z])(?=[A-Z0-9_-]{0,42}[a-z])(?=[A-Za-z_-]{0,42}\\d)${WORD}{24,42}(?=…|$)`;
/** Before the letter: no part of a longer word, unless that is an escape (`\n`, `\u003d`, `%3D`) or a colour of a terminal. */
const START = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[bfnrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\[[\d;]{0,16}m))`;

export const BATON_TOKEN = new RegExp(`${SIGNED}|${START}(?:${OTHER_PAYLOAD}|${PLAIN}|${CUT_OFF})`, 'g');

export const REDACTED_TOKEN = '[redacted:baton-token]';

/** Takes Baton's tokens out; then what is left of `known` secrets (`secretForms`), wherever it stands. */
export function redactTokens(text: string, known: readonly string[] = []): string {
  let clean = mayHold(text) ? text.replace(BATON_TOKEN, REDACTED_TOKEN) : text;
  for (const form of known) if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED_TOKEN);
  return clean;
}

/** The secret part of a token, or a secret, as it is and as it looks inside of a longer text in base64. */
export function secretForms(token: string): string[] {
  const secret = secretPartOf(token);
  return secret.length < SHORTEST ? [] : [secret, ...base64Of(secret)];
}

/** What follows the last dot: the rest of a token says whom it is for, and anyone may know that. */
export function secretPartOf(token: string): string {
  return token.slice(token.lastIndexOf('.') + 1);
}

/** What is shorter is no secret of Baton's, and may be a word. */
const SHORTEST = 16;

/** It depends on where among three bytes the text begins; the characters at the edges, which its neighbours change, are left out. */
function base64Of(ascii: string): string[] {
  return [0, 1, 2].map((before) => {
    const whole = Math.floor(((before + ascii.length) * 8) / 6);
    return btoa('-'.repeat(before) + ascii).slice(Math.ceil((before * 8) / 6), whole);
  });
}

/** A search for fixed words costs next to nothing, also where patterns are slow: a supervisor runs without a compiler. */
function mayHold(text: string): boolean {
  return SIGNS.some((sign) => text.includes(sign)) || hasBody(text, 'o.') || hasBody(text, 'w.');
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
