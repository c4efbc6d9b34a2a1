/** Makes untrusted text safe for a terminal: control characters (so also escape sequences) and bidi controls become codes. */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\t]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
