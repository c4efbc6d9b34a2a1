import type { Unreadable } from './node.ts';
import { quote } from '../shape/quote.ts';

/** Everything that is not a `Char` of XML 1.0: most control characters, lone surrogates, U+FFFE and U+FFFF. */
const ILLEGAL = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

export function findIllegalCharacter(text: string): Unreadable | undefined {
  const found = ILLEGAL.exec(text);
  if (!found) return undefined;
  return {
    code: 'xml/illegal-character',
    what: `Character ${nameCharacter(found[0])} is not allowed in XML`,
    at: found.index,
    hint: 'Remove it, or write down what it stands for.',
  };
}

/** The name of the first character that XML cannot carry in any spelling, not even as a reference. */
export function findUnwritable(text: string): string | undefined {
  const found = ILLEGAL.exec(text);
  return found ? nameCharacter(found[0]) : undefined;
}

/** Looks in a slice, since a search in the whole text would run to its end again for every tag. */
export function findBadReference(text: string, from: number, to: number): Unreadable | undefined {
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
