import type { ListNode, Node, ObjectNode } from '../protocol/node.ts';
import { readJson } from '../protocol/read-json.ts';
import type { Findings } from './found.ts';

/** JSON with its places; a problem where it is none. `from` is where the text of it begins. */
export function readJsonAt(text: string, from: number, findings: Findings): Node | undefined {
  const read = readJson(text);
  if (read.ok) return read.node;
  const { code, what, at, hint } = read.unreadable;
  findings.problem(code, `invalid JSON: ${what}`, from + at, hint);
  return undefined;
}

export function fieldOf(node: ObjectNode, name: string): Node | undefined {
  const value = node.fields.get(name)?.value;
  return value?.kind === 'null' ? undefined : value;
}

/** Text, or a number as it was written; undefined where the field is missing or something else. */
export function textOf(node: ObjectNode, name: string): string | undefined {
  return asText(fieldOf(node, name));
}

export function asText(node: Node | undefined): string | undefined {
  if (node?.kind === 'text') return node.text;
  return node?.kind === 'number' && 'source' in node ? node.source : undefined;
}

export function objectOf(node: ObjectNode, name: string): ObjectNode | undefined {
  const value = fieldOf(node, name);
  return value?.kind === 'object' ? value : undefined;
}

export function listOf(node: ObjectNode, name: string): ListNode | undefined {
  const value = fieldOf(node, name);
  return value?.kind === 'list' ? value : undefined;
}

/** The objects of a list; anything else in it is a problem. Its places count from `from`. */
export function objectsIn(list: ListNode | undefined, what: string, findings: Findings, from = 0): ObjectNode[] {
  return (list?.items ?? []).flatMap((item) => {
    if (item.kind === 'object') return [item];
    const hint = 'See what is understood: docs/import.md';
    findings.problem('import/not-a-task', `${what} is not an object`, from + item.at, hint);
    return [];
  });
}

/** A part of a JSON document of which only some fields are known; the others are kept. */
export type Raw = Record<string, unknown>;

/** JSON that was read before, and found good, as plain values that can be changed. */
export function parseRaw(text: string): unknown {
  return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
}

export function isRaw(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function rawList(value: unknown): Raw[] {
  return Array.isArray(value) ? value.filter(isRaw) : [];
}

export function rawText(raw: Raw, name: string): string | undefined {
  const value = raw[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
