import { removeRanges } from './insertions.ts';
import {
  scanJson,
  valueOf,
  type JsonArrayNode,
  type JsonChild,
  type JsonNode,
  type JsonObjectNode,
} from './scan-json.ts';

/** Whether a part of a file is Baton's: told by where it is and what it says. */
export type IsOurs = (path: readonly string[], value: unknown) => boolean;

/**
 * The text without our parts, whatever else has changed since they were put in. What we made goes too where nothing is left in it. A
 * text that is not JSON is handed back as it is: nobody can say what is ours in it.
 */
export function removeFromJson(text: string, isOurs: IsOurs, isMade: (path: readonly string[]) => boolean): string {
  const scanned = scanJson(text);
  if (!scanned.ok || scanned.root === undefined) return text;
  return removeRanges(text, cutsIn(text, scanned.root, [], isOurs, isMade).cuts);
}

type Range = readonly [start: number, end: number];

interface Cuts {
  readonly cuts: readonly Range[];
  /** Nothing is left in it, and something was. */
  readonly isEmptied: boolean;
}

function cutsIn(
  text: string,
  node: JsonNode,
  path: readonly string[],
  isOurs: IsOurs,
  isMade: (path: readonly string[]) => boolean,
): Cuts {
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

/** Each with the line break and the spaces before it and the comma behind it; for the last ones, the comma before them. */
function childCuts(text: string, node: JsonObjectNode | JsonArrayNode, gone: ReadonlySet<JsonChild>): Range[] {
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

/** The spaces before a child, and one line break where it begins a line. */
function spaceBefore(text: string, start: number): number {
  const [space = ''] = /(?:\r?\n)?[ \t]*$/.exec(text.slice(Math.max(0, start - 1000), start)) ?? [];
  return start - space.length;
}
