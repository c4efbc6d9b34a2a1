import { showInvisible } from '../../protocol/text/show-invisible.ts';

/** Stacked accents: more on one letter than any language uses would cover the lines above and below. */
const STACKED = /(\p{M}{4})\p{M}+/gu;

/** Longer text is cut, because a title of a megabyte would block the page. */
const MOST = 20_000;

/**
 * Makes text of agents and people safe to show: removes invisible characters and those that reorder or cover other
 * text, and limits the length.
 */
export function visible(text: string, most: number = MOST): string {
  const cut = text.length > most ? `${text.slice(0, most)}… (${text.length - most} more characters)` : text;
  return showInvisible(cut)
    .replaceAll(BIDI, (mark) => `[U+${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase()}]`)
    .replaceAll(STACKED, '$1');
}

const BIDI = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g;
