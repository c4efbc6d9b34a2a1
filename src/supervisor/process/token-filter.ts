import { redactTokens } from '../../protocol/redact-tokens.ts';

/**
 * Takes Baton's tokens out of one stream of output before it is kept. A token may come in two pieces, so that the end of a piece that may
 * be the beginning of one waits for the next piece. Bytes are read as Latin-1, which gives every byte back as it was.
 */
export class TokenFilter {
  readonly #known: readonly string[];
  readonly #write: (chunk: Uint8Array) => void;
  #held = '';
  /** The end of what was passed on: an escape before a token tells that a word begins there. */
  #before = '';

  /** `known`: forms of secrets that go wherever they stand. */
  constructor(known: readonly string[], write: (chunk: Uint8Array) => void) {
    this.#known = known;
    this.#write = write;
  }

  push(chunk: Buffer): void {
    const text = this.#held + chunk.toString('latin1');
    const until = heldFrom(text);
    this.#held = text.slice(until);
    this.#pass(text.slice(0, until));
  }

  /** Nothing follows. */
  end(): void {
    this.#pass(this.#held);
    this.#held = '';
  }

  #pass(text: string): void {
    if (text === '') return;
    const clean = redactTokens(this.#before + text, this.#known);
    const isAfter = clean.startsWith(this.#before);
    const kept = isAfter ? clean.slice(this.#before.length) : redactTokens(text, this.#known);
    this.#before = (this.#before + text).slice(-CONTEXT);
    this.#write(Buffer.from(kept, 'latin1'));
  }
}

/** The longest escape is the colour of a terminal. */
const CONTEXT = 20;

/** Longer than any token: what is longer is none, and need not wait. */
const LONGEST = 4608;

/** Where the last run of characters begins that a token may consist of; the end if it cannot be the beginning of one. */
function heldFrom(text: string): number {
  const least = Math.max(0, text.length - LONGEST);
  let from = text.length;
  while (from > least && isOfToken(text.charCodeAt(from - 1))) from -= 1;
  if (from === text.length || (from === least && least > 0)) return text.length;
  return MAY_BEGIN.test(text.slice(from)) ? from : text.length;
}

/** A letter of a token with its dot, or with whatever is there of it. */
const MAY_BEGIN = /[osavw](?:\.|%2[Ee]|\\u002[Ee]|%2?$|\\(?:u0{0,2}2?)?$|$)/;

/** Letters, digits, `-`, `_`, and the characters of a dot in all its spellings. */
function isOfToken(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 45 ||
    code === 95 ||
    code === 46 ||
    code === 37 ||
    code === 92
  );
}
