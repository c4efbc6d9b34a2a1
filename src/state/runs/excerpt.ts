/** An entry holds a few kilobytes of what a program said; the rest is in its log. */
export const EXCERPT_CHARACTERS = 4000;

/** The end of a text, where the news is. Never half a character. */
export function excerptEnd(text: string, most: number = EXCERPT_CHARACTERS): string {
  return text.length <= most ? text : text.slice(-most).replace(/^[\uDC00-\uDFFF]/, '');
}

/** The beginning of a text, where the point is. */
export function excerptStart(text: string, most: number = EXCERPT_CHARACTERS): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
