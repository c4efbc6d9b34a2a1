import { firstWordFor, type TaskStatus } from '../task.ts';

export interface ListItem {
  /** The content of its checkbox; undefined if it has none. */
  readonly box: string | undefined;
  readonly text: string;
  /** The lines below the item that belong to it, without indentation. */
  readonly body: readonly string[];
  readonly parent: ListItem | undefined;
  /** The offset and number (from 0) of its line. */
  readonly at: number;
  readonly line: number;
}

/** If any item has a checkbox, only items with one are tasks; the others describe the item above. */
export function findItems(text: string): readonly ListItem[] {
  const all = scan(text, false);
  return all.some(({ box }) => box !== undefined) ? scan(text, true) : all;
}

/** Items with unknown checkbox content in a list with other checkboxes. People would expect these to be tasks. */
export function findOddBoxes(text: string): readonly { readonly box: string; readonly at: number }[] {
  const odd: { readonly box: string; readonly at: number }[] = [];
  const items = scan(text, true, (line, at) => {
    const box = ODD.exec(line)?.[1];
    if (box !== undefined) odd.push({ box, at });
  });
  return items.length === 0 ? [] : odd;
}

const ODD = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([^\s\]])\][ \t]/u;
/** The first line of an item: indentation, marker, checkbox, text. */
export const ITEM_PATTERN = /^([ \t]*)([-*+]|\d{1,9}[.)])(?:[ \t]+\[([ xX/~!-])\])?(?:[ \t]+(.*)|[ \t]*)$/;
const FENCE = /^[ \t]*(`{3,}|~{3,})/;
const BREAK = /^[ \t]*(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,})$/;

interface OpenItem extends ListItem {
  readonly body: string[];
  readonly indent: number;
  readonly inner: number;
}

function scan(
  text: string,
  needsBox: boolean,
  pass: (line: string, at: number) => void = () => {},
): readonly ListItem[] {
  const items: OpenItem[] = [];
  let open: OpenItem[] = [];
  let fence: { readonly mark: string; readonly inner: number } | undefined;
  let wasBlank = true;
  for (const { line, at, number } of scanLines(text)) {
    const indent = widthOf(/^[ \t]*/.exec(line)?.[0] ?? '');
    const isBlank = line.trim() === '';
    // The end of a list item ends its code block, even if the block is not closed.
    if (fence !== undefined && !isBlank && indent < fence.inner) fence = undefined;
    const mark = FENCE.exec(line)?.[1];
    const match = fence === undefined && mark === undefined && !BREAK.test(line) ? ITEM_PATTERN.exec(line) : null;
    const box = match?.[3];
    if (match !== null && (box !== undefined || !needsBox)) {
      open = open.filter((item) => item.indent < indent);
      const inner = indent + (match[2]?.length ?? 1) + 1;
      const item = { box, text: match[4] ?? '', body: [], parent: open.at(-1), at, line: number, indent, inner };
      items.push(item);
      open.push(item);
    } else {
      if (fence === undefined) pass(line, at);
      if (!isBlank) open = open.filter((item) => item.indent < indent || (!wasBlank && !/^#{1,6}\s/.test(line)));
      const owner = open.at(-1);
      owner?.body.push(withoutIndent(line, owner.inner));
      if (mark !== undefined && fence === undefined) fence = { mark, inner: Math.min(indent, owner?.inner ?? 0) };
      else if (mark !== undefined && fence !== undefined && mark.startsWith(fence.mark)) fence = undefined;
    }
    wasBlank = isBlank;
  }
  return items;
}

export function* scanLines(
  text: string,
): Generator<{ readonly line: string; readonly at: number; readonly number: number }> {
  let [at, number] = [0, 0];
  for (const end of text.matchAll(/\r\n|\r|\n/g)) {
    yield { line: text.slice(at, end.index), at, number };
    at = end.index + end[0].length;
    number += 1;
  }
  yield { line: text.slice(at), at, number };
}

function widthOf(space: string): number {
  let width = 0;
  for (const character of space) width = character === '\t' ? width + 4 - (width % 4) : width + 1;
  return width;
}

function withoutIndent(line: string, most: number): string {
  const space = /^[ \t]*/.exec(line)?.[0] ?? '';
  return ' '.repeat(Math.max(0, widthOf(space) - most)) + line.slice(space.length);
}

/** The contents of checkboxes. The first entry for each status is the one that Baton writes. */
export const BOXES: ReadonlyMap<string, TaskStatus> = new Map([
  [' ', 'todo'],
  ['x', 'done'],
  ['X', 'done'],
  ['/', 'in_progress'],
  ['~', 'in_progress'],
  ['!', 'blocked'],
  ['-', 'cancelled'],
]);

export function boxOf(status: TaskStatus): string {
  return firstWordFor(BOXES, status);
}
