/** A text in one line: what stood in lines of its own is still told apart. Spaces stay as they are. */
export function oneLine(text: string): string {
  return text.replaceAll(/(?<=\S)[^\S\r\n]*[\r\n]\s*(?=\S)/g, ' · ').replaceAll(/[\t\r\n]+/g, ' ');
}
