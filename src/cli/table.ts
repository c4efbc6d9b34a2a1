import { padTo, widthOf } from './text-width.ts';
import { oneLine } from './one-line.ts';
import { printable } from './text.ts';

/** Rows under each other, each column as wide as its widest cell; the last one ends where it ends. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map((cell) => printable(oneLine(cell).replaceAll(/\s+/g, ' '))));
  const widths = safe.reduce<number[]>(
    (widest, row) => row.map((cell, i) => Math.max(widest[i] ?? 0, widthOf(cell))),
    [],
  );
  return safe
    .map(
      (row) =>
        `${row
          .map((cell, i) => padTo(cell, widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** A heading and what is known below it; what is not known is left out. */
export function renderFacts(
  heading: string,
  facts: readonly (readonly [name: string, value: string | null])[],
): string {
  const known = facts.filter((fact): fact is readonly [string, string] => fact[1] !== null && fact[1] !== '');
  return `${printable(heading)}\n${renderTable(known).replaceAll(/^(?=.)/gm, '  ')}`;
}
