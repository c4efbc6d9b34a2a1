import { accepted, refused, type Parsed } from '../protocol/problem.ts';
import { ledgerProblem } from './ledger-problem.ts';
import { LIMITS } from './limits.ts';

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
  const look: Look = { integersOnly, orderable: true };
  const ordered = inOrder(value, depth, look);
  const text = look.orderable ? JSON.stringify(ordered) : renderByHand(ordered);
  // A lone surrogate comes out as an escape, and nothing else that starts like this does: a backslash comes out as two.
  if (text.includes('\\ud') && /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(text)) {
    throw new NotCanonical('ledger/lone-surrogate', 'a string is not valid Unicode');
  }
  return text;
}

interface Look {
  readonly integersOnly: boolean;
  /** False once an object was met whose keys no engine lists in canonical order. */
  orderable: boolean;
}

/** The value with its keys in canonical order: itself where it already is, which is how stored entries come in. */
function inOrder(value: unknown, depth: number, look: Look): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return checkNumber(value, look.integersOnly);
    case 'object':
      if (value === null) return value;
      if (depth > LIMITS.depth) throw new NotCanonical('ledger/too-deep', `deeper than ${LIMITS.depth} levels`);
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

function arrayInOrder(items: readonly unknown[], depth: number, look: Look): readonly unknown[] {
  let copy: unknown[] | undefined;
  // Counted, since a hole in an array must be refused, not skipped.
  for (let i = 0; i < items.length; i += 1) {
    const item = inOrder(items[i], depth + 1, look);
    if (item !== items[i]) copy ??= [...items];
    if (copy) copy[i] = item;
  }
  return copy ?? items;
}

function objectInOrder(object: object, depth: number, look: Look): object {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new NotCanonical('ledger/not-json', 'only plain objects are JSON');
  }
  const keys = Object.keys(object);
  let sorted = true;
  for (let i = 0; i < keys.length; i += 1) {
    const key = keys[i] ?? '';
    // The order of `<` is by UTF-16 code units: exactly what the RFC asks for.
    if (i > 0 && key <= (keys[i - 1] ?? '')) sorted = false;
    if (isOutOfOrder(key)) look.orderable = false;
  }
  let copy: Record<string, unknown> | undefined;
  if (!sorted && look.orderable) {
    copy = {};
    keys.sort();
  }
  for (const key of keys) {
    const child: unknown = Reflect.get(object, key);
    const ordered = inOrder(child, depth + 1, look);
    if (ordered !== child) copy ??= { ...object };
    if (copy) copy[key] = ordered;
  }
  return copy ?? object;
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
