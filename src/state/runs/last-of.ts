/** An entry holds a few kilobytes of what a program said; the rest is in its log. */
export const KEPT_TEXT = 4000;

/** The end of a text, where the news is. Never half a character. */
export function lastOf(text: string, most: number = KEPT_TEXT): string {
  return text.length <= most ? text : text.slice(-most).replace(/^[\uDC00-\uDFFF]/, '');
}

/** The beginning of a text, where the point is. */
export function firstOf(text: string, most: number = KEPT_TEXT): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
