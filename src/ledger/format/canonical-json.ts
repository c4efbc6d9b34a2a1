import { accepted, type Parsed, refused } from '../../protocol/shape/problem.ts';
import { LEDGER_LIMITS, ledgerProblem } from './limits.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/**
 * RFC 8785: the one text that a JSON value has, so that its hash means something. The ledger takes integers only,
 * because other languages print fractions differently; `numbers: 'any'` is the whole RFC.
 */
export function canonicalJson(value: unknown, numbers: 'integers' | 'any' = 'integers', depth = 1): Parsed<string> {
  try {
    return accepted(renderCanonical(value, depth, numbers === 'integers'));
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    const hint = 'Put plain JSON into an entry; what does not fit belongs into a blob.';
    return refused(ledgerProblem(error.code, error.message, hint));
  }
}

/** Thrown and caught inside of this room only: a value per level of recursion would double the cost of an append. */
export class NotCanonical extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The same without the wrapping, for the hot path: throws `NotCanonical`. `JSON.stringify` writes strings and numbers
 * exactly as the RFC asks, and is several times faster than anything written here, so the value is put in order first.
 */
export function renderCanonical(value: unknown, depth: number, integersOnly: boolean): string {
  const look: OrderCheck = { integersOnly, orderable: true };
  const ordered = inOrder(value, depth, look);
  const text = look.orderable ? JSON.stringify(ordered) : renderByHand(ordered);
  // A lone surrogate comes out as an escape, and nothing else that starts like this does: a backslash comes out as two.
  if (text.includes('\\ud') && /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(text)) {
    throw new NotCanonical('ledger/lone-surrogate', 'a string is not valid Unicode');
  }
  return text;
}

interface OrderCheck {
  readonly integersOnly: boolean;
  /** False once an object was met whose keys no engine lists in canonical order. */
  orderable: boolean;
}

/** The value with its keys in canonical order: itself where it already is, which is how stored entries come in. */
function inOrder(value: unknown, depth: number, look: OrderCheck): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return checkNumber(value, look.integersOnly);
    case 'object':
      if (value === null) return value;
      if (depth > LEDGER_LIMITS.depth)
        throw new NotCanonical('ledger/too-deep', `deeper than ${LEDGER_LIMITS.depth} levels`);
      return Array.isArray(value) ? arrayInOrder(value, depth, look) : objectInOrder(value, depth, look);
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

function arrayInOrder(items: readonly unknown[], depth: number, look: OrderCheck): readonly unknown[] {
  let copy: unknown[] | undefined;
  // Counted, since a hole in an array must be refused, not skipped.
  for (let i = 0; i < items.length; i += 1) {
    const item = inOrder(items[i], depth + 1, look);
    if (item !== items[i]) copy ??= [...items];
    if (copy) copy[i] = item;
  }
  return copy ?? items;
}

function objectInOrder(object: object, depth: number, look: OrderCheck): object {
  requirePlain(object);
  const keys = Object.keys(object);
  const values = Object.values(object);
  const { sorted, isOrderable } = shapeOf(keys);
  if (!isOrderable) look.orderable = false;
  let copy: Record<string, unknown> | undefined = sorted && { ...sorted, ...object };
  for (let i = 0; i < keys.length; i += 1) {
    const child = values[i];
    // Most are text, and fine as they are.
    if (typeof child === 'string') continue;
    const ordered = inOrder(child, depth + 1, look);
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

/** The keys of an object as they came. */
interface Shape {
  readonly keys: readonly string[];
  readonly isOrderable: boolean;
  /** An object with the same keys in canonical order, where they came in another: whatever is put over it is in order. */
  readonly sorted: Fields | undefined;
}

/** Entries of one type have the same keys in the same order: sorting them would cost more than all else about them. */
const shapes: (Shape | undefined)[] = [];
const SHAPES = 256;

function shapeOf(keys: readonly string[]): Shape {
  const slot = (31 * keys.length + (keys[0]?.length ?? 0) + 7 * (keys.at(-1)?.length ?? 0)) % SHAPES;
  const known = shapes[slot];
  if (known && isSame(known.keys, keys)) return known;
  // The default order is by UTF-16 code units: exactly what the RFC asks for.
  const order = keys.toSorted();
  const isOrderable = !keys.some(isOutOfOrder);
  const isSorted = !isOrderable || isSame(order, keys);
  const sorted = isSorted ? undefined : Object.fromEntries(order.map((key) => [key, null]));
  const shape = { keys, isOrderable, sorted };
  if (keys.length <= LONGEST_SHAPE) shapes[slot] = shape;
  return shape;
}

/** Objects used as tables have keys of their own each; to remember those would only hold memory. */
const LONGEST_SHAPE = 64;

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

/** Engines list keys that are numbers first, and treat __proto__ in their own way. */
function isOutOfOrder(key: string): boolean {
  const first = key.charCodeAt(0);
  return (first >= 0x30 && first <= 0x39) || key === '__proto__';
}

/** For the rare object whose order cannot be expressed; everything in it was checked before. */
function renderByHand(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(renderByHand).join(',')}]`;
  const entries: [string, unknown][] = Object.entries(value);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, child]) => `${JSON.stringify(key)}:${renderByHand(child)}`).join(',')}}`;
}
