import { PROTOCOL_LIMITS } from '../limits.ts';

/**
 * The tree that every parser (JSON, YAML, XML, values) returns. `source` is a scalar as written: `1e5` may be a number
 * or a commit.
 */
export type Node = ObjectNode | ListNode | TextNode | ScalarNode;

export interface ObjectNode {
  readonly kind: 'object';
  readonly at: number;
  /**
   * The offset of problems about missing fields: the closing brace in JSON, the first field in YAML, the start tag in
   * XML.
   */
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
  /** Whether YAML has the scalar without quotes: a field that must be text reads it as text. */
  readonly plain: boolean;
}

export interface Unreadable {
  readonly code: string;
  readonly what: string;
  readonly at: number;
  readonly hint: string;
}

export interface SyntaxDocument {
  readonly syntax: 'JSON' | 'YAML';
  readonly read: ReadResult<Node>;
}

export type ReadResult<T> =
  | { readonly ok: true; readonly node: T }
  | { readonly ok: false; readonly unreadable: Unreadable };

/** Thrown inside a reader at the first syntax error, and caught by `readOrStop`. */
export class Stopped extends Error {
  readonly unreadable: Unreadable;

  constructor(unreadable: Unreadable) {
    super(unreadable.what);
    this.unreadable = unreadable;
  }
}

export function readOrStop<T>(read: () => T): ReadResult<T> {
  try {
    return { ok: true, node: read() };
  } catch (error) {
    if (error instanceof Stopped) return { ok: false, unreadable: error.unreadable };
    throw error;
  }
}

export function isScalar(node: Node): node is ScalarNode {
  return node.kind === 'number' || node.kind === 'boolean' || node.kind === 'null' || node.kind === 'other';
}

export function sourceOf(node: Node): string {
  if (node.kind === 'text') return node.text;
  return isScalar(node) ? node.source : node.kind === 'list' ? 'a list' : 'an object';
}

/**
 * Converts a value to a tree. Never throws, although getters and proxies may, and although a value may contain itself.
 */
export function treeOfValue(
  value: unknown,
  budget: Budget = { units: PROTOCOL_LIMITS.messageBytes },
): ReadResult<Node> {
  try {
    return { ok: true, node: nodeOf(value, 1, budget) };
  } catch (error) {
    const what = error instanceof Unfit ? error.message : 'value cannot be read';
    const hint = 'Pass plain data: objects, arrays, text, numbers, booleans.';
    return { ok: false, unreadable: { code: 'unreadable-value', what, at: 0, hint } };
  }
}

class Unfit extends Error {}

/**
 * The units that may still be read: each value costs one, and each character one more. Below zero if the budget is
 * exceeded.
 */
interface Budget {
  units: number;
  /**
   * Keeps faults that a checker reports with their path: lone surrogates, `__proto__`, and, as `other`, too deep values
   * and -0.
   */
  readonly isLenient?: boolean;
}

function nodeOf(value: unknown, depth: number, budget: Budget): Node {
  if (depth > PROTOCOL_LIMITS.nesting) {
    if (budget.isLenient) return scalar('other', null, typeof value);
    throw new Unfit(`nesting deeper than ${PROTOCOL_LIMITS.nesting} levels`);
  }
  spend(budget, 1);
  if (typeof value === 'string') return textNode(value, budget);
  if (value === null || value === undefined) return scalar('null', null, 'null');
  if (Object.is(value, -0) && budget.isLenient) return scalar('other', null, '-0');
  if (typeof value === 'number') return scalar('number', value, String(value));
  if (typeof value === 'boolean') return scalar('boolean', value, String(value));
  if (Array.isArray(value)) return listNode(value, depth, budget);
  if (typeof value !== 'object') return scalar('other', null, typeof value);
  if (listsItsUnits(value)) return scalar('other', null, 'object');
  return objectNode(value, depth, budget);
}

/** Charges the budget for each item: an array may claim four billion items and contain none. */
function listNode(value: readonly unknown[], depth: number, budget: Budget): Node {
  const { length } = value;
  const items: Node[] = [];
  for (let i = 0; i < length; i++) items.push(nodeOf(value[i], depth + 1, budget));
  return { kind: 'list', at: 0, items };
}

/** Reports whether the object would list each of its characters or bytes as a field. */
function listsItsUnits(value: object): boolean {
  return ArrayBuffer.isView(value) || Object.prototype.toString.call(value) === '[object String]';
}

function objectNode(value: object, depth: number, budget: Budget): Node {
  const fields = new Map<string, ObjectField>();
  for (const [name, field] of Object.entries(value)) {
    textNode(name, budget);
    if (name === '__proto__' && !budget.isLenient) throw new Unfit('field name `__proto__` is not allowed');
    fields.set(name, { at: 0, value: nodeOf(field, depth + 1, budget) });
  }
  return { kind: 'object', at: 0, end: 0, fields };
}

function textNode(text: string, budget: Budget): Node {
  spend(budget, text.length);
  if (!budget.isLenient && !text.isWellFormed()) throw new Unfit('lone surrogate in a string');
  return { kind: 'text', at: 0, text };
}

function scalar(kind: 'number' | 'boolean' | 'null' | 'other', value: number | boolean | null, source: string): Node {
  return { kind, at: 0, value, source, plain: false };
}

function spend(budget: Budget, units: number): void {
  budget.units -= units;
  if (budget.units < 0) throw new Unfit(`larger than ${PROTOCOL_LIMITS.messageBytes} bytes`);
}
