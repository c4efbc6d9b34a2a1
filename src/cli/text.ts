/**
 * Text from elsewhere, safe for a terminal: control characters (and with them every escape sequence) and the characters that
 * turn the direction of writing around are shown as codes instead of being obeyed.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\t]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The same for text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}
