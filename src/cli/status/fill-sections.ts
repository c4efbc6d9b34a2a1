import type { Piece } from './paint.ts';

type SectionLine = readonly Piece[];

/** Something to show, at length and in short. */
export interface StatusItem {
  readonly full: readonly SectionLine[];
  readonly brief: readonly SectionLine[];
}

export interface StatusSection {
  readonly title: SectionLine;
  readonly items: readonly StatusItem[];
  /** Where the rest can be seen. */
  readonly more: string;
}

/** Lets the sections share so many lines. The first ones come first, but each gets a place; what does not fit is counted. */
export function fillSections(sections: readonly StatusSection[], rows: number): SectionLine[] {
  const some = sections.filter(({ items }) => items.length > 0);
  const form = some.reduce((sum, section) => sum + heightOf(section, 'full'), 0) <= rows ? 'full' : 'brief';
  let left = rows;
  return some.flatMap((section, i) => {
    const later = (some.length - 1 - i) * MIN_ROWS;
    const lines = fillSection(section, form, Math.max(0, left - later));
    left -= lines.length;
    return lines;
  });
}

/** A title, one item, and how many more there are. */
const MIN_ROWS = 3;

function heightOf({ items }: StatusSection, form: 'full' | 'brief'): number {
  return 1 + items.reduce((sum, item) => sum + item[form].length, 0);
}

function fillSection(section: StatusSection, form: 'full' | 'brief', rows: number): SectionLine[] {
  const { title, items, more } = section;
  if (heightOf(section, form) <= rows) return [title, ...items.flatMap((item) => item[form])];
  if (rows < 2) return rows < 1 ? [] : [title];
  const lines: SectionLine[] = [title];
  let shown = 0;
  for (const item of items) {
    // The last line says how many are left.
    if (lines.length + item[form].length > rows - 1) break;
    lines.push(...item[form]);
    shown += 1;
  }
  const rest: SectionLine = [[`  … ${items.length - shown}${shown === 0 ? '' : ' more'}: ${more}`, 'dim']];
  return [...lines, rest];
}
