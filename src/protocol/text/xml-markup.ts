import { PROTOCOL_LIMITS } from '../limits.ts';
import { quote } from '../shape/problem.ts';
import type { Unreadable } from './node.ts';

/** Finds the first construct that Baton refuses although XML may allow it. Malformed markup is left to the parser. */
export function findRefusedMarkup(text: string): Unreadable | undefined {
  const illegal = findIllegalCharacter(text);
  if (illegal) return illegal;
  const declaration = readDeclaration(text);
  if (declaration.unreadable) return declaration.unreadable;
  let at = declaration.end;
  let depth = 0;
  while (at < text.length) {
    const open = text.indexOf('<', at);
    const bad = findBadReference(text, at, open < 0 ? text.length : open);
    if (bad || open < 0) return bad;
    if (text.startsWith('<!--', open)) {
      at = after(text, '-->', open + 4);
      continue;
    }
    const refusal = refusedAt(text, open);
    if (refusal) return refusal;
    const close = endOfTag(text, open);
    if (close === undefined) return findBadReference(text, open, text.length);
    const badInTag = findBadReference(text, open, close);
    if (badInTag) return badInTag;
    if (text[open + 1] === '/') depth -= 1;
    else if (depth >= PROTOCOL_LIMITS.handoffDepth) return tooDeep(open);
    else if (text[close - 1] !== '/') depth += 1;
    at = close + 1;
  }
  return undefined;
}

/**
 * Accepts `<?xml version="1.0" encoding="UTF-8"?>`, because most tools write it and it does not change how the text is
 * read.
 */
function readDeclaration(text: string): { end: number; unreadable?: Unreadable } {
  if (!/^<\?xml[ \t\n]/.test(text)) return { end: 0 };
  const found = DECLARATION.exec(text);
  if (found) return { end: found[0].length };
  const hint = 'Write <?xml version="1.0" encoding="UTF-8"?> or leave it out.';
  const what = 'XML declaration must have version 1.0 and, if it names an encoding, UTF-8';
  return { end: 0, unreadable: { code: 'xml/declaration', what, at: 0, hint } };
}

const DECLARATION =
  /^<\?xml[ \t\n]+version=(?:"1\.0"|'1\.0')(?:[ \t\n]+encoding=(?:"utf-8"|'utf-8'))?(?:[ \t\n]+standalone=(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\n]*\?>/i;

function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found + mark.length;
}

/** Refuses CDATA, because it is a second spelling of text in which `<` and `&` have another meaning. */
function refusedAt(text: string, at: number): Unreadable | undefined {
  if (text.startsWith('<![CDATA[', at)) {
    const hint = 'Write the text as it is, with &lt; for < and &amp; for &.';
    return { code: 'xml/cdata', what: 'CDATA sections are not allowed', at, hint };
  }
  if (/^<!DOCTYPE/i.test(text.slice(at, at + 9))) {
    return { code: 'xml/doctype', what: 'DOCTYPE is not allowed', at, hint: 'Remove the DOCTYPE.' };
  }
  if (text[at + 1] === '!') {
    return { code: 'xml/declaration', what: 'Declarations are not allowed', at, hint: 'Remove the declaration.' };
  }
  if (text[at + 1] === '?') {
    const what = 'Processing instructions are not allowed';
    return { code: 'xml/processing-instruction', what, at, hint: 'Remove the processing instruction.' };
  }
  return undefined;
}

function endOfTag(text: string, open: number): number | undefined {
  for (let at = open + 1; at < text.length; at++) {
    const character = text[at];
    if (character === '>') return at;
    if (character === '<') return undefined;
    if (character !== '"' && character !== "'") continue;
    at = text.indexOf(character, at + 1);
    if (at < 0) return undefined;
  }
  return undefined;
}

function tooDeep(at: number): Unreadable {
  const what = `XML is nested too deep: more than ${PROTOCOL_LIMITS.handoffDepth} elements inside each other`;
  return { code: 'xml/too-deep', what, at, hint: 'Make the structure flatter.' };
}

/** Characters that are not a `Char` of XML 1.0: most control characters, lone surrogates, U+FFFE and U+FFFF. */
const ILLEGAL = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

function findIllegalCharacter(text: string): Unreadable | undefined {
  const found = ILLEGAL.exec(text);
  if (!found) return undefined;
  const what = `Character ${nameCharacter(found[0])} is not allowed in XML`;
  return { code: 'xml/illegal-character', what, at: found.index, hint: 'Remove it, or write down what it stands for.' };
}

export function findUnwritable(text: string): string | undefined {
  const found = ILLEGAL.exec(text);
  return found ? nameCharacter(found[0]) : undefined;
}

/** Searches a slice: a search of the whole text for every tag would take quadratic time. */
function findBadReference(text: string, from: number, to: number): Unreadable | undefined {
  const part = text.slice(from, to);
  for (let at = part.indexOf('&'); at >= 0; at = part.indexOf('&', at + 1)) {
    const bad = badReferenceAt(text, from + at);
    if (bad) return bad;
  }
  return undefined;
}

const REFERENCE = /&(?:amp|lt|gt|quot|apos|#([0-9]{1,10})|#x([0-9a-fA-F]{1,8}));/y;
const ENTITY = /&[\p{L}_:][\p{L}\p{N}_:.-]*;/uy;

function badReferenceAt(text: string, at: number): Unreadable | undefined {
  REFERENCE.lastIndex = at;
  const found = REFERENCE.exec(text);
  if (found) return badNumber(found, at);
  ENTITY.lastIndex = at;
  const entity = ENTITY.exec(text)?.[0];
  if (entity === undefined) {
    const what = 'Character & does not begin a reference';
    return { code: 'xml/bare-ampersand', what, at, hint: 'Write &amp; for &.' };
  }
  const hint = 'Only &amp; &lt; &gt; &quot; &apos; and character references are allowed. Write the text itself.';
  return { code: 'xml/entity', what: `Entity ${quote(entity)} is not allowed`, at, hint };
}

function badNumber([reference, decimal, hex]: RegExpExecArray, at: number): Unreadable | undefined {
  const code = decimal === undefined ? (hex === undefined ? undefined : Number.parseInt(hex, 16)) : Number(decimal);
  if (code === undefined) return undefined;
  if (code <= 0x10ffff && !ILLEGAL.test(String.fromCodePoint(code))) return undefined;
  const what = `Reference ${reference} names a character that is not allowed in XML`;
  return { code: 'xml/illegal-character', what, at, hint: 'Remove it, or write down what it stands for.' };
}

function nameCharacter(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
