/**
 * Characters that are invisible to people but not to models: controls, tags (a whole alphabet of them), variation
 * selectors that belong to no emoji, zero-width spaces, blank letters, and those that reorder or break a line. Joiners
 * and the marks of right-to-left text are allowed.
 */
const INVISIBLE =
  /[[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]--[\t\n\r\u061c\u200c-\u200f\ufe0e\ufe0f]]+/gv; // oxlint-disable-line no-misleading-character-class

/** Replaces each run of invisible characters by a note, so that people see that something was hidden there. */
export function showInvisible(text: string): string {
  return text.replaceAll(INVISIBLE, (run) => {
    const { length } = Array.from(run);
    const code = (run.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return length === 1 ? `[U+${code}]` : `[${length} invisible characters: U+${code} …]`;
  });
}
