import { isObject } from '../protocol/shape/read-unknown.ts';
import type { ListNode, Node, ObjectNode } from '../protocol/text/node.ts';
import { parseJsonTree } from '../protocol/text/json.ts';
import type { ImportFindings } from './findings.ts';

/** Parses JSON with positions, and reports a problem if it is invalid. `from` is the offset of the text. */
export function parseJsonAt(text: string, from: number, findings: ImportFindings): Node | undefined {
  const read = parseJsonTree(text);
  if (read.ok) return read.node;
  const { code, what, at, hint } = read.unreadable;
  findings.problem(code, `invalid JSON: ${what}`, from + at, hint);
  return undefined;
}

function findField(node: ObjectNode, name: string): Node | undefined {
  const value = node.fields.get(name)?.value;
  return value?.kind === 'null' ? undefined : value;
}

/** Returns the text, or a number as written; undefined for other types. */
export function findFieldText(node: ObjectNode, name: string): string | undefined {
  return textOfNode(findField(node, name));
}

export function textOfNode(node: Node | undefined): string | undefined {
  if (node?.kind === 'text') return node.text;
  return node?.kind === 'number' && 'source' in node ? node.source : undefined;
}

export function findObject(node: ObjectNode, name: string): ObjectNode | undefined {
  const value = findField(node, name);
  return value?.kind === 'object' ? value : undefined;
}

export function findList(node: ObjectNode, name: string): ListNode | undefined {
  const value = findField(node, name);
  return value?.kind === 'list' ? value : undefined;
}

/** Returns the objects of a list. Any other item is a problem. Positions count from `from`. */
export function objectsIn(list: ListNode | undefined, what: string, findings: ImportFindings, from = 0): ObjectNode[] {
  return (list?.items ?? []).flatMap((item) => {
    if (item.kind === 'object') return [item];
    const hint = 'See the supported formats: baton docs import';
    findings.problem('import/not-a-task', `${what} is not an object`, from + item.at, hint);
    return [];
  });
}

/** A JSON object. Fields unknown to Baton are kept. */
export type RawObject = Record<string, unknown>;

/** Parses validated JSON as mutable values. */
export function parseRawJson(text: string): unknown {
  return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
}

export function isRawObject(value: unknown): value is RawObject {
  return isObject(value);
}

export function rawList(value: unknown): RawObject[] {
  return Array.isArray(value) ? value.filter(isRawObject) : [];
}

export function rawText(raw: RawObject, name: string): string | undefined {
  const value = raw[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
