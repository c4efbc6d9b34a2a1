import { PROTOCOL_LIMITS } from '../limits.ts';

/**
 * What every reader (JSON, YAML, plain values) turns its input into, so that one checker serves them all. `at` is the offset
 * in the text; `source` is a scalar as it was written, since `1e5` may be a number to YAML and a commit to us.
 */
export type Node = ObjectNode | ListNode | TextNode | ScalarNode;

export interface ObjectNode {
  readonly kind: 'object';
  readonly at: number;
  /** The place of whatever is missing from it: its closing brace in JSON, its first field in YAML, which has no end. */
  readonly end: number;
  readonly fields: ReadonlyMap<string, ObjectField>;
}

export interface ObjectField {
  readonly at: number;
  readonly value: Node;
}

export interface ListNode {
  readonly kind: 'list';
  readonly at: number;
  readonly items: readonly Node[];
}

export interface TextNode {
  readonly kind: 'text';
  readonly at: number;
  readonly text: string;
}

export interface ScalarNode {
  readonly kind: 'number' | 'boolean' | 'null' | 'other';
  readonly at: number;
  readonly value: number | boolean | null;
  readonly source: string;
  /** Written without quotes in YAML, where a field that must be text reads it as text. */
  readonly plain: boolean;
}

/** What stopped a reader: where, and what was wrong there. */
export interface Unreadable {
  readonly code: string;
  readonly what: string;
  readonly at: number;
  readonly hint: string;
}

/** A whole text, read in the syntax it turned out to have. */
export interface SyntaxDocument {
  readonly syntax: 'JSON' | 'YAML';
  readonly read: ReadResult<Node>;
}

export type ReadResult<T> =
  | { readonly ok: true; readonly node: T }
  | { readonly ok: false; readonly unreadable: Unreadable };

/**
 * Any JavaScript value as a tree, for callers that hold a value instead of text. It never throws: getters may, proxies may,
 * and a value may contain itself.
 */
export function treeOfValue(value: unknown): ReadResult<Node> {
  const budget = { units: PROTOCOL_LIMITS.messageBytes };
  try {
    return { ok: true, node: nodeOf(value, 1, budget) };
  } catch (error) {
    const what = error instanceof Unfit ? error.message : 'value cannot be read';
    return {
      ok: false,
      unreadable: {
        code: 'unreadable-value',
        what,
        at: 0,
        hint: 'Pass plain data: objects, arrays, text, numbers, booleans.',
      },
    };
  }
}

class Unfit extends Error {}

interface Budget {
  units: number;
}

function nodeOf(value: unknown, depth: number, budget: Budget): Node {
  if (depth > PROTOCOL_LIMITS.nesting) throw new Unfit(`nesting deeper than ${PROTOCOL_LIMITS.nesting} levels`);
  spend(budget, 1);
  if (typeof value === 'string') return textNode(value, budget);
  if (value === null || value === undefined) return scalar('null', null, 'null');
  if (typeof value === 'number') return scalar('number', value, String(value));
  if (typeof value === 'boolean') return scalar('boolean', value, String(value));
  if (Array.isArray(value)) return listNode(value, depth, budget);
  if (typeof value !== 'object') return scalar('other', null, typeof value);
  if (listsItsUnits(value)) return scalar('other', null, 'object');
  return objectNode(value, depth, budget);
}

/** Item by item, each paid for: an array may claim four billion items and hold none, or have methods of its own. */
function listNode(value: readonly unknown[], depth: number, budget: Budget): Node {
  const { length } = value;
  const items: Node[] = [];
  for (let i = 0; i < length; i++) items.push(nodeOf(value[i], depth + 1, budget));
  return { kind: 'list', at: 0, items };
}

/** Objects that would list every one of their units or bytes as a field. */
function listsItsUnits(value: object): boolean {
  return ArrayBuffer.isView(value) || Object.prototype.toString.call(value) === '[object String]';
}

function objectNode(value: object, depth: number, budget: Budget): Node {
  const fields = new Map<string, ObjectField>();
  for (const [name, field] of Object.entries(value)) {
    textNode(name, budget);
    if (name === '__proto__') throw new Unfit('field name `__proto__` is not allowed');
    fields.set(name, { at: 0, value: nodeOf(field, depth + 1, budget) });
  }
  return { kind: 'object', at: 0, end: 0, fields };
}

function textNode(text: string, budget: Budget): Node {
  spend(budget, text.length);
  if (!text.isWellFormed()) throw new Unfit('lone surrogate in a string');
  return { kind: 'text', at: 0, text };
}

function scalar(kind: 'number' | 'boolean' | 'null' | 'other', value: number | boolean | null, source: string): Node {
  return { kind, at: 0, value, source, plain: false };
}

function spend(budget: Budget, units: number): void {
  budget.units -= units;
  if (budget.units < 0) throw new Unfit(`larger than ${PROTOCOL_LIMITS.messageBytes} bytes`);
}
