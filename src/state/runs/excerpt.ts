/** How many characters of a program's output an entry contains; its log has the rest. */
export const EXCERPT_CHARACTERS = 4000;

/** The end of a text. Never splits a character. */
export function excerptEnd(text: string, most: number = EXCERPT_CHARACTERS): string {
  return text.length <= most ? text : text.slice(-most).replace(/^[\uDC00-\uDFFF]/, '');
}

/** Converts text from outside to one line: valid Unicode, without control characters. */
export function plainLine(text: string, most: number): string {
  return excerptStart(
    text
      .toWellFormed()
      .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      .trim(),
    most,
  );
}

export function excerptStart(text: string, most: number = EXCERPT_CHARACTERS): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
