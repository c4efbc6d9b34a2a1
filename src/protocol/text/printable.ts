/**
 * Makes untrusted text safe for a terminal: replaces control characters (and so escape sequences) and bidi controls by
 * codes.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\t]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
