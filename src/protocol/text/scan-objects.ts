import { PROTOCOL_LIMITS } from '../limits.ts';
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json.ts';

export interface ObjectScanner {
  push(chunk: string): void;
  /** Ends the stream: searches inside an object that was never closed, and resets the scanner. */
  end(): void;
}

const KEPT = PROTOCOL_LIMITS.exitSignalBytes;

/**
 * Finds complete JSON objects in a stream of prose. Every `{` may begin an object: a small automaton follows it until
 * the object is complete or cannot be JSON; the search then continues right after that `{`.
 *
 * Time is linear: candidates that are open at the same position are nested (at most `nesting` deep) or disagree about
 * where strings begin (two ways), so each character is read a bounded number of times. Memory is bounded: of a
 * candidate that exceeds the limit only the end is kept, for the search that follows if the candidate fails.
 */
export function createObjectScanner(onObject: (text: string) => void): ObjectScanner {
  let held = '';
  let candidate: Candidate | undefined;
  return { push: (chunk) => scan(chunk, false), end: () => scan('', true) };

  function scan(chunk: string, isLast: boolean): void {
    let text = chunk;
    let start = 0;
    let at = 0;
    while (at < text.length || (isLast && candidate !== undefined)) {
      if (candidate === undefined) {
        start = text.indexOf('{', at);
        if (start < 0) return;
        candidate = { state: 'value', open: [], readsName: false, length: 0 };
        at = start;
      }
      const end = advance(candidate, text, at);
      candidate.length += end.at - at;
      if (end.fate === 'alive' && !isLast) break;
      const seen = held.length + end.at - start;
      const whole = candidate.length === seen;
      if (end.fate === 'complete') {
        if (whole && seen <= KEPT) onObject(held + text.slice(start, end.at));
        at = end.at;
      } else {
        text = held + text.slice(start);
        start = 0;
        at = Math.max(whole ? 1 : 0, seen - KEPT);
      }
      held = '';
      candidate = undefined;
    }
    if (candidate !== undefined) hold(text.slice(start));
  }

  /** Trimmed only at twice the limit, so that input in single bytes is not copied for each byte. */
  function hold(text: string): void {
    held += text;
    if (held.length > 2 * KEPT) held = held.slice(-KEPT);
  }
}

type State = 'value' | 'first-item' | 'first-name' | 'name' | 'colon' | 'after' | 'string' | 'escape' | 'scalar';

interface Candidate {
  state: State;
  /** The closing brackets that are expected, outermost first. */
  readonly open: number[];
  readsName: boolean;
  /** The number of characters read so far, including those no longer kept. */
  length: number;
}

interface End {
  readonly fate: 'alive' | 'complete' | 'broken';
  readonly at: number;
}

/**
 * Follows the grammar of JSON. Scalars and escapes are checked only roughly, because a parser checks complete objects.
 */
function advance(candidate: Candidate, text: string, from: number): End {
  let at = from;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (candidate.state === 'scalar' && !isScalarUnit(unit)) candidate.state = 'after';
    if (!stepCandidate(candidate, unit)) return { fate: 'broken', at };
    at += 1;
    if (candidate.open.length === 0) return { fate: 'complete', at };
  }
  return { fate: 'alive', at };
}

/** Consumes one character; false if the text cannot be JSON. */
function stepCandidate(candidate: Candidate, unit: number): boolean {
  switch (candidate.state) {
    case 'string':
      if (unit === QUOTE) candidate.state = candidate.readsName ? 'colon' : 'after';
      else if (unit === BACKSLASH) candidate.state = 'escape';
      return unit >= 0x20;
    case 'escape':
      candidate.state = 'string';
      return unit >= 0x20;
    case 'scalar':
      return true;
    default:
      return isSpace(unit) || stepToken(candidate, unit);
  }
}

function stepToken(candidate: Candidate, unit: number): boolean {
  const { state, open } = candidate;
  switch (state) {
    case 'first-item':
      return unit === CLOSE_BRACKET ? close(candidate, unit) : beginValue(candidate, unit);
    case 'value':
      return beginValue(candidate, unit);
    case 'first-name':
      return unit === CLOSE_BRACE ? close(candidate, unit) : beginString(candidate, unit, true);
    case 'name':
      return beginString(candidate, unit, true);
    case 'colon':
      candidate.state = 'value';
      return unit === COLON;
    case 'after':
      if (unit !== COMMA) return close(candidate, unit);
      candidate.state = open.at(-1) === CLOSE_BRACE ? 'name' : 'value';
      return true;
    default:
      return false;
  }
}

function beginValue(candidate: Candidate, unit: number): boolean {
  if (unit === OPEN_BRACE) return beginNested(candidate, CLOSE_BRACE, 'first-name');
  if (unit === OPEN_BRACKET) return beginNested(candidate, CLOSE_BRACKET, 'first-item');
  if (unit === QUOTE) return beginString(candidate, unit, false);
  candidate.state = 'scalar';
  return isScalarUnit(unit);
}

function beginNested(candidate: Candidate, owed: number, state: State): boolean {
  candidate.open.push(owed);
  candidate.state = state;
  return candidate.open.length <= PROTOCOL_LIMITS.nesting;
}

function beginString(candidate: Candidate, unit: number, readsName: boolean): boolean {
  candidate.state = 'string';
  candidate.readsName = readsName;
  return unit === QUOTE;
}

function close(candidate: Candidate, unit: number): boolean {
  candidate.state = 'after';
  return candidate.open.pop() === unit;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

/** Reports whether the character can be part of a number, `true`, `false` or `null`. */
function isScalarUnit(unit: number): boolean {
  const isDigit = unit >= 0x30 && unit <= 0x39;
  const isLetter = (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a);
  return isDigit || isLetter || unit === 0x2b || unit === 0x2d || unit === 0x2e;
}
