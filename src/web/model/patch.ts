/** One row of a patch: a line of the file, the heading of a hunk, or git's information about the file. */
export type PatchRow =
  | PatchLine
  | { readonly kind: 'hunk'; readonly range: string; readonly heading: string }
  | { readonly kind: 'about'; readonly text: string };

export interface PatchLine {
  readonly kind: 'added' | 'removed' | 'context';
  /** The number of the line before the change; null if it was added. */
  readonly old: number | null;
  /** The number of the line after the change; null if it was removed. */
  readonly new: number | null;
  readonly text: string;
  /** Set if the file ends with this line, without a line break. */
  readonly isUnended?: true;
  /** The part that differs from the paired line, as offsets. */
  readonly differs?: readonly [from: number, to: number];
}

/**
 * Parses the section of one file in a unified diff. Uses the line counts of each hunk, so that no line of the file can
 * be mistaken for a heading.
 */
export function parsePatch(patch: string): PatchRow[] {
  const rows: PatchRow[] = [];
  let hunk: Hunk | undefined;
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    if (line.startsWith('\\')) markUnended(rows);
    else if (hunk !== undefined && hunk.oldLeft + hunk.newLeft > 0) rows.push(readLine(line, hunk));
    else {
      hunk = parseHunk(line);
      if (hunk !== undefined) rows.push({ kind: 'hunk', range: hunk.range, heading: hunk.heading });
      else if (isAbout(line)) rows.push({ kind: 'about', text: line });
    }
  }
  return withDifferences(rows);
}

interface Hunk {
  readonly range: string;
  readonly heading: string;
  old: number;
  new: number;
  oldLeft: number;
  newLeft: number;
}

function parseHunk(line: string): Hunk | undefined {
  const found = /^(@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@) ?(.*)$/s.exec(line);
  if (found === null) return undefined;
  const [, range = '', oldFrom, oldCount = '1', newFrom, newCount = '1', heading = ''] = found;
  return {
    range,
    heading,
    old: Number(oldFrom),
    new: Number(newFrom),
    oldLeft: Number(oldCount),
    newLeft: Number(newCount),
  };
}

function readLine(line: string, hunk: Hunk): PatchLine {
  const text = line.slice(1);
  if (line.startsWith('+')) {
    hunk.newLeft -= 1;
    return { kind: 'added', old: null, new: hunk.new++, text };
  }
  if (line.startsWith('-')) {
    hunk.oldLeft -= 1;
    return { kind: 'removed', old: hunk.old++, new: null, text };
  }
  hunk.oldLeft -= 1;
  hunk.newLeft -= 1;
  return { kind: 'context', old: hunk.old++, new: hunk.new++, text };
}

function markUnended(rows: PatchRow[]): void {
  const last = rows.at(-1);
  if (last !== undefined && isPatchLine(last)) rows.splice(-1, 1, { ...last, isUnended: true });
}

export function isPatchLine(row: PatchRow): row is PatchLine {
  return row.kind === 'added' || row.kind === 'removed' || row.kind === 'context';
}

/** Modes identify links, programs and submodules. The mode of a plain file, 100644, is not shown. */
function isAbout(line: string): boolean {
  return /^(?:old mode|new mode|Binary files|(?:new|deleted) file mode (?!100644))/.test(line);
}

/** Pairs removed lines with the added lines after them, if the numbers are equal, and finds each pair's differences. */
function withDifferences(rows: readonly PatchRow[]): PatchRow[] {
  const marked: MaybeRow[] = [...rows];
  for (let at = 0; at < rows.length;) {
    const removed = countFrom(rows, at, 'removed');
    const added = countFrom(rows, at + removed, 'added');
    for (let i = 0; removed === added && i < removed; i += 1)
      [marked[at + i], marked[at + removed + i]] = markPair(rows[at + i], rows[at + removed + i]);
    at += Math.max(1, removed + added);
  }
  return marked.filter((row) => row !== undefined);
}

function countFrom(rows: readonly PatchRow[], from: number, kind: PatchRow['kind']): number {
  let count = 0;
  while (rows[from + count]?.kind === kind) count += 1;
  return count;
}

type MaybeRow = PatchRow | undefined;

function markPair(before: MaybeRow, after: MaybeRow): [MaybeRow, MaybeRow] {
  if (before === undefined || after === undefined || !isPatchLine(before) || !isPatchLine(after))
    return [before, after];
  const found = findDifference(before.text, after.text);
  if (found === undefined) return [before, after];
  const { prefix, suffix } = found;
  return [mark(before, prefix, suffix), mark(after, prefix, suffix)];
}

function mark(line: PatchLine, prefix: number, suffix: number): PatchLine {
  const to = line.text.length - suffix;
  return to <= prefix ? line : { ...line, differs: [prefix, to] };
}

/** Pairs with a smaller common part were rewritten: marking nearly all of a line is useless. */
const LEAST_COMMON = 0.4;

function findDifference(a: string, b: string): { readonly prefix: number; readonly suffix: number } | undefined {
  const most = Math.min(a.length, b.length);
  let prefix = 0;
  while (prefix < most && a[prefix] === b[prefix]) prefix += 1;
  let suffix = 0;
  while (suffix < most - prefix && a[a.length - 1 - suffix] === b[b.length - 1 - suffix]) suffix += 1;
  // Half of a surrogate pair is not a character.
  if (isHighSurrogate(a, prefix - 1)) prefix -= 1;
  if (suffix > 0 && isHighSurrogate(a, a.length - suffix - 1)) suffix -= 1;
  const common = a.slice(0, prefix).trim().length + a.slice(a.length - suffix).trim().length;
  return common < LEAST_COMMON * Math.max(a.trim().length, b.trim().length) ? undefined : { prefix, suffix };
}

function isHighSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc_00) === 0xd8_00;
}

export interface Segment {
  readonly text: string;
  readonly differs: boolean;
  /** Whether the segment is white space at the end of a line, which is otherwise invisible. */
  readonly isTrailing: boolean;
}

/** Splits a line where its appearance changes. */
export function segmentsOf({ kind, text, differs = [0, 0] }: PatchLine): Segment[] {
  const trailing = kind === 'context' ? text.length : text.length - (/[ \t\r]+$/.exec(text)?.[0].length ?? 0);
  const [from, to] = differs;
  const cuts = [...new Set([0, from, to, trailing, text.length])].sort((a, b) => a - b);
  return cuts.slice(1).map((end, i) => {
    const start = cuts[i] ?? 0;
    return { text: text.slice(start, end), differs: start >= from && end <= to, isTrailing: start >= trailing };
  });
}

/**
 * Renders the line with its sign, and the comment below it. `renderPlacedComment` adds the path and the line number.
 */
export function renderLineComment(line: PatchLine, comment: string): string {
  const sign = { added: '+', removed: '-', context: ' ' }[line.kind];
  const text = line.text.length > MOST_QUOTED ? `${line.text.slice(0, MOST_QUOTED)}…` : line.text;
  return `> ${sign}${text.trimEnd()}\n\n${comment.trim()}`;
}

export function renderPlacedComment(path: string, line: PatchLine, comment: string): string {
  const place =
    line.new === null ? `${path}:${line.old} (removed; the number before the change)` : `${path}:${line.new}`;
  return `Comment on ${place}\n${renderLineComment(line, comment)}`;
}

const MOST_QUOTED = 500;
