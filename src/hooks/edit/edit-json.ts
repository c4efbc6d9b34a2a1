import { type Insertion, lineEndOf, removeRanges } from './insertions.ts';
import { type JsonChild, type JsonContainer, type JsonNode, memberOf, scanJson, valueOf } from './scan-json.ts';

type JsonEditValue = string | number | boolean | readonly JsonEditValue[] | { readonly [name: string]: JsonEditValue };
export interface JsonTree {
  readonly [name: string]: JsonEditValue;
}

export type Added =
  | { readonly ok: true; readonly insertions: readonly Insertion[]; readonly made: readonly (readonly string[])[] }
  | { readonly ok: false; readonly what: string };

/** Adds members to objects and appends items to lists. The existing text keeps every byte. */
export function addToJson(text: string, wanted: JsonTree): Added {
  const scanned = scanJson(text);
  if (!scanned.ok) return { ok: false, what: `line ${scanned.line}, column ${scanned.column}: ${scanned.what}` };
  const style = styleOf(text);
  if (scanned.root === undefined) {
    const at = text.length;
    const gap = at === 0 || /[\n\uFEFF]$/.test(text) ? '' : style.lineEnd;
    return { ok: true, insertions: [{ at, text: `${gap}${render(wanted, '', style)}${style.lineEnd}` }], made: [[]] };
  }
  const insertions: Insertion[] = [];
  const made: string[][] = [];
  const what = addTo(scanned.root, wanted, [], { text, style, insertions, made });
  return what === undefined ? { ok: true, insertions, made } : { ok: false, what };
}

interface Adding {
  readonly text: string;
  readonly style: Style;
  readonly insertions: Insertion[];
  readonly made: string[][];
}

function addTo(node: JsonNode, wanted: JsonTree, path: readonly string[], adding: Adding): string | undefined {
  if (node.kind !== 'object') return `${path.join('.') || 'the file'} is not an object`;
  const missing: [string, JsonEditValue][] = [];
  for (const [key, value] of Object.entries(wanted)) {
    const found = memberOf(node, key)?.value;
    const here = [...path, key];
    if (found === undefined) {
      missing.push([key, value]);
      if (typeof value === 'object') adding.made.push(here);
    } else if (Array.isArray(value)) {
      if (found.kind !== 'array') return `${here.join('.')} is not a list`;
      addChildren(
        found,
        value.map((item) => ['', item]),
        adding,
      );
    } else if (isTree(value)) {
      const what = addTo(found, value, here, adding);
      if (what !== undefined) return what;
    } else {
      return `${here.join('.')} already exists`;
    }
  }
  addChildren(node, missing, adding);
  return undefined;
}

/** Inserts after the last child, with the commas needed; on separate lines if the other children are. */
function addChildren(
  node: JsonContainer,
  children: readonly (readonly [string, JsonEditValue])[],
  { text, style, insertions }: Adding,
): void {
  if (children.length === 0) return;
  const inside = text.slice(node.start, node.end);
  const isOneLine = !inside.includes('\n');
  const indent = isOneLine ? undefined : indentOf(text, node, style);
  const rendered = children.map(([key, value]) => {
    const name = key === '' && node.kind === 'array' ? '' : `${JSON.stringify(key)}: `;
    return indent === undefined
      ? `${name}${renderOnOneLine(value)}`
      : `${style.lineEnd}${indent}${name}${render(value, indent, style)}`;
  });
  const last = node.children.at(-1);
  if (last === undefined) {
    insertions.push(intoEmpty(text, node, rendered.join(indent === undefined ? ', ' : ','), style));
    return;
  }
  const joined = indent === undefined ? rendered.map((child) => ` ${child}`).join(',') : rendered.join(',');
  if (last.comma !== undefined) {
    insertions.push({ at: endOfLine(text, last.comma + 1), text: `${joined},` });
    return;
  }
  const at = isOneLine ? last.end : endOfLine(text, last.end);
  if (at === last.end) insertions.push({ at, text: `,${joined}` });
  else insertions.push({ at: last.end, text: ',' }, { at, text: joined });
}

/** If the closing bracket has its own line, inserts before that line; otherwise right after the opening bracket. */
function intoEmpty(text: string, node: JsonContainer, rendered: string, { lineEnd }: Style): Insertion {
  const lineStart = text.lastIndexOf('\n', node.end - 1);
  const hasOwnLine = text.slice(lineStart, node.end - 1).trim() === '';
  if (!rendered.startsWith(lineEnd) || !hasOwnLine) return { at: node.start + 1, text: rendered };
  const at = text.startsWith(lineEnd, lineStart + 1 - lineEnd.length) ? lineStart + 1 - lineEnd.length : lineStart;
  return { at, text: rendered };
}

/** The position after a comment on the same line, or `from` if other text follows. */
function endOfLine(text: string, from: number): number {
  REST_OF_LINE.lastIndex = from;
  const rest = REST_OF_LINE.exec(text)?.[0];
  return rest === undefined ? from : from + rest.trimEnd().length;
}

const REST_OF_LINE = /[ \t]*(?:\/\*[^\r\n]*?\*\/[ \t]*)*(?:\/\/[^\r\n]*)?(?=\r?\n)/y;

interface Style {
  readonly lineEnd: string;
  readonly unit: string;
}

function styleOf(text: string): Style {
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  return { lineEnd: lineEndOf(text), unit: unit.startsWith('\t') ? '\t' : unit };
}

/** The children's indentation; without children, one step more than the line on which the node starts. */
function indentOf(text: string, node: JsonContainer, { unit }: Style): string {
  const own = node.children.map(({ start }) => lineBefore(text, start)).find((before) => before.trim() === '');
  if (own !== undefined) return own;
  return `${/^[ \t]*/.exec(lineBefore(text, node.start))?.[0] ?? ''}${unit}`;
}

function lineBefore(text: string, at: number): string {
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
}

function render(value: JsonEditValue, indent: string, { unit, lineEnd }: Style): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', `${lineEnd}${indent}`);
}

function renderOnOneLine(value: JsonEditValue): string {
  if (Array.isArray(value)) return `[${value.map((item: JsonEditValue) => renderOnOneLine(item)).join(', ')}]`;
  if (!isTree(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${renderOnOneLine(member)}`);
  return `{ ${members.join(', ')} }`;
}

function isTree(value: JsonEditValue): value is JsonTree {
  return typeof value === 'object' && !Array.isArray(value);
}

export type IsOurs = (path: readonly string[], value: unknown) => boolean;

/**
 * Removes Baton's entries from a file that may have changed since. Containers that Baton created are removed if they
 * are empty. Returns text that is not JSON unchanged.
 */
export function removeFromJson(text: string, isOurs: IsOurs, isMade: (path: readonly string[]) => boolean): string {
  const scanned = scanJson(text);
  if (!scanned.ok || scanned.root === undefined) return text;
  return removeRanges(text, cutsIn(text, scanned.root, [], isOurs, isMade).cuts);
}

type Range = readonly [start: number, end: number];

function cutsIn(
  text: string,
  node: JsonNode,
  path: readonly string[],
  isOurs: IsOurs,
  isMade: (path: readonly string[]) => boolean,
): { readonly cuts: readonly Range[]; readonly isEmptied: boolean } {
  if (node.kind === 'scalar') return { cuts: [], isEmptied: false };
  const gone = new Set<JsonChild>();
  const inner: Range[] = [];
  for (const child of node.children) {
    const here = node.kind === 'object' ? [...path, child.key] : [...path, '*'];
    if (isOurs(here, valueOf(child.value))) {
      gone.add(child);
      continue;
    }
    const { cuts, isEmptied } = cutsIn(text, child.value, here, isOurs, isMade);
    if (isEmptied && node.kind === 'object' && isMade(here)) gone.add(child);
    else inner.push(...cuts);
  }
  return {
    cuts: [...inner, ...childCuts(text, node, gone)],
    isEmptied: gone.size > 0 && gone.size === node.children.length,
  };
}

/** Each child with the space before it and the comma after it; for the last children, the comma before them instead. */
function childCuts(text: string, node: JsonContainer, gone: ReadonlySet<JsonChild>): Range[] {
  const cuts: Range[] = [];
  const lastKept = node.children.findLast((child) => !gone.has(child));
  const hasCommaAtEnd = node.children.at(-1)?.comma !== undefined;
  for (const child of gone) {
    cuts.push([spaceBefore(text, child.start), child.end]);
    if (child.comma !== undefined) cuts.push([child.comma, child.comma + 1]);
  }
  const isLastGone = node.children.length > 0 && gone.has(node.children.at(-1) as JsonChild); // oxlint-disable-line typescript/no-unsafe-type-assertion
  if (isLastGone && !hasCommaAtEnd && lastKept?.comma !== undefined) cuts.push([lastKept.comma, lastKept.comma + 1]);
  return cuts;
}

/** The spaces before a child, and a line break if the child starts its line. */
function spaceBefore(text: string, start: number): number {
  const [space = ''] = /(?:\r?\n)?[ \t]*$/.exec(text.slice(Math.max(0, start - 1000), start)) ?? [];
  return start - space.length;
}
