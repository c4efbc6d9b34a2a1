import { accepted, type Parsed } from '../../protocol/shape/problem.ts';
import { LEDGER_LIMITS, refuse } from './limits.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/**
 * Renders RFC 8785, the only text of a JSON value. Entries contain integers only, because languages print fractions
 * differently.
 */
export function canonicalJson(value: unknown, numbers: 'integers' | 'any' = 'integers', depth = 1): Parsed<string> {
  try {
    return accepted(renderCanonical(value, depth, numbers === 'integers'));
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    const hint = 'Use plain JSON in an entry, and a blob for anything else.';
    return refuse(error.code, error.message, hint);
  }
}

/** Thrown and caught inside src/ledger only: result objects would double the cost of an append. */
export class NotCanonical extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Throws `NotCanonical`. `JSON.stringify` writes strings and numbers as the RFC asks, several times faster than code
 * here.
 */
export function renderCanonical(value: unknown, depth: number, integersOnly: boolean): string {
  const check: OrderCheck = { integersOnly, orderable: true };
  const ordered = inOrder(value, depth, check);
  const text = check.orderable ? JSON.stringify(ordered) : renderByHand(ordered);
  // A lone surrogate is written as the escape \ud…; a backslash in the value becomes two, so nothing else matches.
  if (text.includes('\\ud') && /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(text)) {
    throw new NotCanonical('ledger/lone-surrogate', 'a string is not valid Unicode');
  }
  return text;
}

interface OrderCheck {
  readonly integersOnly: boolean;
  /** False if an object has keys that a JavaScript engine does not list in canonical order. */
  orderable: boolean;
}

/** Returns the value with its keys in canonical order; the same object if they already are, as in stored entries. */
function inOrder(value: unknown, depth: number, check: OrderCheck): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return checkNumber(value, check.integersOnly);
    case 'object':
      if (value === null) return value;
      if (depth > LEDGER_LIMITS.depth)
        throw new NotCanonical('ledger/too-deep', `deeper than ${LEDGER_LIMITS.depth} levels`);
      return Array.isArray(value) ? arrayInOrder(value, depth, check) : objectInOrder(value, depth, check);
    default:
      throw new NotCanonical('ledger/not-json', `a value of type ${typeof value} is not JSON`);
  }
}

function checkNumber(value: number, integersOnly: boolean): number {
  if (integersOnly ? Number.isSafeInteger(value) : Number.isFinite(value)) return value;
  throw new NotCanonical(
    'ledger/not-integer',
    `${value} is not ${integersOnly ? 'an integer that every language can hold' : 'a JSON number'}`,
  );
}

function arrayInOrder(items: readonly unknown[], depth: number, check: OrderCheck): readonly unknown[] {
  let copy: unknown[] | undefined;
  // An index loop, because a hole in an array must be refused, not skipped.
  for (let i = 0; i < items.length; i += 1) {
    const item = inOrder(items[i], depth + 1, check);
    if (item !== items[i]) copy ??= [...items];
    if (copy) copy[i] = item;
  }
  return copy ?? items;
}

function objectInOrder(object: object, depth: number, check: OrderCheck): object {
  requirePlain(object);
  const keys = Object.keys(object);
  const values = Object.values(object);
  const { sorted, isOrderable } = shapeOf(keys);
  if (!isOrderable) check.orderable = false;
  let copy: Record<string, unknown> | undefined = sorted && { ...sorted, ...object };
  for (let i = 0; i < keys.length; i += 1) {
    const child = values[i];
    if (typeof child === 'string') continue;
    const ordered = inOrder(child, depth + 1, check);
    if (ordered === child) continue;
    copy ??= { ...object };
    copy[keys[i] ?? ''] = ordered;
  }
  return copy ?? object;
}

type Fields = Readonly<Record<string, unknown>>;

function requirePlain(object: object): asserts object is Fields {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new NotCanonical('ledger/not-json', 'only plain objects are JSON');
  }
}

interface Shape {
  readonly keys: readonly string[];
  readonly isOrderable: boolean;
  /** The same keys in canonical order, to spread the object over; undefined if they are sorted. */
  readonly sorted: Fields | undefined;
}

/** Caches key orders: entries of one type share them, and sorting costs more than rendering. */
const shapes: (Shape | undefined)[] = [];
const SHAPES = 256;

function shapeOf(keys: readonly string[]): Shape {
  const slot = (31 * keys.length + (keys[0]?.length ?? 0) + 7 * (keys.at(-1)?.length ?? 0)) % SHAPES;
  const known = shapes[slot];
  if (known && isSame(known.keys, keys)) return known;
  // The default sort compares UTF-16 code units, as the RFC asks.
  const order = keys.toSorted();
  const isOrderable = !keys.some(isOutOfOrder);
  const isSorted = !isOrderable || isSame(order, keys);
  const sorted = isSorted ? undefined : Object.fromEntries(order.map((key) => [key, null]));
  const shape = { keys, isOrderable, sorted };
  if (keys.length <= LONGEST_SHAPE) shapes[slot] = shape;
  return shape;
}

/** Objects used as tables all have distinct keys; caching those would only use memory. */
const LONGEST_SHAPE = 64;

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

/** Engines list numeric keys first and treat __proto__ specially. */
function isOutOfOrder(key: string): boolean {
  const first = key.charCodeAt(0);
  return (first >= 0x30 && first <= 0x39) || key === '__proto__';
}

/** For the rare object whose key order an engine cannot keep. The values were checked before. */
function renderByHand(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(renderByHand).join(',')}]`;
  const entries: [string, unknown][] = Object.entries(value);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, child]) => `${JSON.stringify(key)}:${renderByHand(child)}`).join(',')}}`;
}
