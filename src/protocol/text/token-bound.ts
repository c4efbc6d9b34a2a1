import { ONE_TOKEN_WORDS } from './one-token-words.ts';

/**
 * An upper bound for the number of tokens of a text, for any script and any tokenizer of the byte-level BPE family. A
 * tokenizer's ranks are megabytes and differ between models, so the bound charges each kind of character the most that
 * it costs in the tokenizers that can be run (`token-bound.test.ts`), and a quarter more for words, because newer
 * tokenizers cut prose finer.
 */
export function boundTokens(text: string): number {
  return Math.ceil(scan(text, Number.POSITIVE_INFINITY).quarters / QUARTERS);
}

/**
 * Returns the longest prefix whose bound is at most `most`; it ends at a line or word end if one is near, and never
 * inside a surrogate pair.
 */
export function cutToTokens(text: string, most: number): string {
  const { end } = scan(text, most * QUARTERS);
  return end === text.length ? text : text.slice(0, endOfLineOrWord(text, end));
}

/**
 * Returns the end of a text whose bound is at most `most`; it begins at a line or word if one is near. For the output
 * of programs.
 */
export function cutStartToTokens(text: string, most: number): string {
  const surplus = scan(text, Number.POSITIVE_INFINITY).quarters - most * QUARTERS;
  if (surplus <= 0) return text;
  const { end } = scan(text, surplus);
  let kept = text.slice(beginOfLineOrWord(text, end < text.length ? step(text, end) : end));
  // A step costs more if less text precedes it, so a few more may have to be removed.
  while (kept !== '' && boundTokens(kept) > most) kept = kept.slice(beginOfLineOrWord(kept, step(kept, 0)));
  return kept;
}

/** Costs are counted in quarters of a token, so that sums are whole numbers. */
const QUARTERS = 4;
/**
 * The cost of a known word that stands alone, and the addition for its capital. A known part of a longer word costs
 * more, because tokenizers cut words in one run elsewhere.
 */
const WORD = 5;
const CAPITAL = 3;

const SPACE = 0x20;
const LOWER_A = 0x61;
const LETTERS = 26;
const LINE_FEED = 0x0a;
const APOSTROPHE = 0x27;

/** How far back a cut looks for a line end and for a word end, in UTF-16 units. */
const NEAR_LINE = 160;
const NEAR_WORD = 40;

/** Adds up the costs from the left. Stops before the step that would exceed `most`; `end` is that position. */
function scan(text: string, most: number): { quarters: number; end: number } {
  let quarters = 0;
  let at = 0;
  while (at < text.length) {
    const next = step(text, at);
    if (quarters + stepCost > most) break;
    quarters += stepCost;
    at = next;
  }
  return { quarters, end: at };
}

/** The cost of the last `step`. A module variable, because an object for each step would double the time. */
let stepCost = 0;

/** Reads one step (a word or a part of one, a character, a run of spaces) and returns its end. */
function step(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === SPACE) return stepOverSpaces(text, at);
  if (isLetter(code)) return stepOverLetters(text, at);
  if (code >= 0x80) return stepOverUnicode(text, at, code);
  stepCost = QUARTERS;
  // A long run of one mark is cut into pairs at least; the first four are charged in full.
  if (isMark(code) && at >= 4 && isRun(text, at, code)) stepCost = QUARTERS / 2;
  return at + 1;
}

function isRun(text: string, at: number, code: number): boolean {
  for (let back = 1; back <= 4; back++) if (text.charCodeAt(at - back) !== code) return false;
  return true;
}

/** Tokenizers have tokens for runs of spaces, and join the last space with the following letter or mark. */
function stepOverSpaces(text: string, start: number): number {
  const limit = Math.min(text.length, start + 8);
  let at = start + 1;
  while (at < limit && text.charCodeAt(at) === SPACE) at++;
  const isAlone = at - start === 1;
  const code = at < text.length ? text.charCodeAt(at) : -1;
  if (isMark(code) || isLetter(code)) {
    at = step(text, at);
    stepCost += isAlone ? 0 : QUARTERS;
    return at;
  }
  stepCost = isAlone || code === SPACE || code === -1 ? QUARTERS : 2 * QUARTERS;
  return at;
}

/**
 * Steps over a known word, or a known part of one, with or without a capital; any other letter is charged as its own
 * token.
 */
function stepOverLetters(text: string, at: number): number {
  const trie = (knownWords ??= buildTrie(ONE_TOKEN_WORDS));
  const first = text.charCodeAt(at);
  const isCapital = first < LOWER_A;
  let end = at + 1;
  let node = trie.next[(first | SPACE) - LOWER_A] ?? 0;
  let here = at + 1;
  while (node !== 0 && isLower(text.charCodeAt(here))) {
    node = trie.next[node * LETTERS + text.charCodeAt(here) - LOWER_A] ?? 0;
    here++;
    if (trie.isWord[node] === 1) end = here;
  }
  const length = end - at;
  if (length === 1) stepCost = QUARTERS;
  else stepCost = (standsAlone(text, at, end) ? WORD : QUARTERS + length) + (isCapital ? CAPITAL : 0);
  return end;
}

/**
 * Reports whether a word has no letter beside it that tokenizers may join to it. After an apostrophe they match `'s`
 * and the like first.
 */
function standsAlone(text: string, at: number, end: number): boolean {
  const before = text.charCodeAt(at - 1);
  if (before === APOSTROPHE || isLower(text.charCodeAt(end))) return false;
  return !isLetter(before) || isLower(before) !== isLower(text.charCodeAt(at));
}

function isLower(code: number): boolean {
  return code >= LOWER_A && code < LOWER_A + LETTERS;
}

function isLetter(code: number): boolean {
  return code < 0x80 && isLower(code | SPACE);
}

function isMark(code: number): boolean {
  return code > SPACE && code < 0x7f && !isLetter(code) && (code < 0x30 || code > 0x39);
}

let knownWords: Trie | undefined;

type Trie = { readonly next: Uint16Array; readonly isWord: Uint8Array };

function buildTrie(words: string): Trie {
  const next = new Uint16Array(words.length * LETTERS);
  const isWord = new Uint8Array(words.length);
  let nodes = 1;
  let node = 0;
  for (let at = 0; at < words.length; at++) {
    const letter = words.charCodeAt(at) - LOWER_A;
    if (letter < 0) {
      if (node !== 0) isWord[node] = 1;
      node = 0;
      continue;
    }
    const slot = node * LETTERS + letter;
    if (next[slot] === 0) next[slot] = nodes++;
    node = next[slot] ?? 0;
  }
  return { next: next.slice(0, nodes * LETTERS), isWord: isWord.slice(0, nodes) };
}

/** Charges a character of n bytes at most n tokens. The exceptions below hold in every tokenizer that the tests run. */
function stepOverUnicode(text: string, at: number, code: number): number {
  const isPair = code >= 0xd800 && code <= 0xdbff && isLowSurrogate(text.charCodeAt(at + 1));
  stepCost = QUARTERS * (isPair ? tokensOfPair(code) : tokensOfUnit(code));
  return at + (isPair ? 2 : 1);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** Emoji and other symbols of U+1F000 to U+1FFFF begin with two bytes that form one token. */
function tokensOfPair(high: number): number {
  return high >= 0xd83c && high <= 0xd83f ? 3 : 4;
}

function tokensOfUnit(code: number): number {
  if (code < 0x800) return code >= 0x430 && code <= 0x44f ? 1 : 2;
  if (code >= 0x4e00 && code <= 0x9fff) return isSet(RARE_HAN, (code - 0x4e00) >> 6) ? 3 : 2;
  if (code >= 0xac00 && code <= 0xd7a3) return isSet(RARE_HANGUL, (code - 0xac00) >> 6) ? 3 : 2;
  for (const { first, last } of TWO_TOKENS) if (code >= first && code <= last) return 2;
  return 3;
}

/**
 * Characters of three bytes that take at most two tokens: Devanagari, Thai, punctuation, box drawing, kana and CJK
 * punctuation.
 */
const TWO_TOKENS = [
  { first: 0x900, last: 0x97f },
  { first: 0xe00, last: 0xe7f },
  { first: 0x2000, last: 0x206f },
  { first: 0x2500, last: 0x257f },
  { first: 0x3000, last: 0x30ff },
] as const;

/**
 * One bit for each block of 64 ideographs, or of 64 Hangul syllables, in which some take three tokens. All others take
 * at most two.
 */
const RARE_HAN = '00280021e202f81e00270090002bf00007b73c7383900093c10e027fbf8c1800f80ef7c0030dbfffed';
const RARE_HANGUL = '0a3fd7ca67fc289e4d7fe1cff80176ff5fbfe7d7fb3f';

/** Reads one bit of a row of hexadecimal digits. */
function isSet(bits: string, at: number): boolean {
  const digit = bits.charCodeAt(at >> 2);
  const value = digit < 0x3a ? digit - 0x30 : digit - 0x57;
  return ((value >> (3 - (at & 3))) & 1) === 1;
}

/** The end of the last line or word at or before `end`, if one is near; else `end`. */
function endOfLineOrWord(text: string, end: number): number {
  for (let at = end; at > end - NEAR_LINE && at > 0; at--) if (text.charCodeAt(at) === LINE_FEED) return at;
  for (let at = end; at > end - NEAR_WORD && at > 0; at--) if (text.charCodeAt(at) === SPACE) return at;
  return end;
}

/** The start of the next line or word at or after `start`, if one is near; else `start`. */
function beginOfLineOrWord(text: string, start: number): number {
  const line = text.indexOf('\n', Math.max(0, start - 1)) + 1;
  if (line > 0 && line < text.length && line <= start + NEAR_LINE) return line;
  const word = text.indexOf(' ', start) + 1;
  return word > 0 && word < text.length && word <= start + NEAR_WORD ? word : start;
}
