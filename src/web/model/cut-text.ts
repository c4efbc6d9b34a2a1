export interface CutText {
  readonly shown: string;
  /** The number of omitted characters. */
  readonly hidden: number;
}

interface Room {
  readonly lines: number;
  readonly characters: number;
  /** Which end to keep: a text's start states its subject; the end of a program's output shows how it ended. */
  readonly keep: 'start' | 'end';
}

/** Cuts a long text, if possible at a line end. Never splits a character. */
export function cutText(text: string, { lines, characters, keep }: Room): CutText {
  const all = keep === 'start' ? text.trimEnd() : text.trim();
  const rows = all.split('\n');
  const kept = keep === 'start' ? rows.slice(0, lines) : rows.slice(-lines);
  const joined = kept.join('\n');
  const shown =
    joined.length <= characters ? joined : keep === 'start' ? startOf(joined, characters) : endOf(joined, characters);
  return { shown, hidden: all.length - shown.length };
}

function startOf(text: string, characters: number): string {
  return text.slice(0, characters).replace(/[\uD800-\uDBFF]$/, '');
}

function endOf(text: string, characters: number): string {
  return text.slice(-characters).replace(/^[\uDC00-\uDFFF]/, '');
}
