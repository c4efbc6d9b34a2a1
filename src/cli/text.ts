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

/** Ids are long and random; every command accepts the beginning of one. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

/** A text in one line: what stood in lines of its own is still told apart. Spaces stay as they are. */
export function oneLine(text: string): string {
  return text.replaceAll(/(?<=\S)[^\S\r\n]*[\r\n]\s*(?=\S)/g, ' · ').replaceAll(/[\t\r\n]+/g, ' ');
}
