/** Makes untrusted text safe for a terminal: control characters (so also escape sequences) and bidi controls become codes. */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\t]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** Every command accepts the beginning of an id. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

/** Joins lines with ` · `. Spaces within a line stay. */
export function oneLine(text: string): string {
  return text.replaceAll(/(?<=\S)[^\S\r\n]*[\r\n]\s*(?=\S)/g, ' · ').replaceAll(/[\t\r\n]+/g, ' ');
}

/** `12,345`. */
export function renderCount(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}
