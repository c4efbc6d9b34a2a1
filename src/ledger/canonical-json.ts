import { accepted, refused, type Parsed } from '../protocol/problem.ts';
import { ledgerProblem } from './ledger-problem.ts';
import { LIMITS } from './limits.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/**
 * RFC 8785: the one text that a JSON value has, so that its hash means something. The ledger takes integers only,
 * because other languages print fractions differently; `numbers: 'any'` is the whole RFC.
 */
export function canonicalJson(value: unknown, numbers: 'integers' | 'any' = 'integers'): Parsed<string> {
  try {
    return accepted(renderCanonical(value, 1, numbers === 'integers'));
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return refused(
      ledgerProblem(
        error.code,
        error.message,
        'Put plain JSON into an entry; what does not fit belongs into a blob.',
      ),
    );
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

/** The same without the wrapping, for the hot path: throws `NotCanonical`. */
export function renderCanonical(value: unknown, depth: number, integersOnly: boolean): string {
  switch (typeof value) {
    case 'string':
      return renderString(value);
    case 'number':
      return renderNumber(value, integersOnly);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (depth > LIMITS.depth) throw new NotCanonical('too_deep', `deeper than ${LIMITS.depth} levels`);
      return Array.isArray(value)
        ? renderArray(value, depth, integersOnly)
        : renderObject(value, depth, integersOnly);
    default:
      throw new NotCanonical('not_json', `a value of type ${typeof value} is not JSON`);
  }
}

function renderString(text: string): string {
  if (!text.isWellFormed()) throw new NotCanonical('lone_surrogate', 'a string is not valid Unicode');
  return JSON.stringify(text);
}

function renderNumber(value: number, integersOnly: boolean): string {
  if (integersOnly ? !Number.isSafeInteger(value) : !Number.isFinite(value)) {
    throw new NotCanonical(
      'not_integer',
      `${value} is not ${integersOnly ? 'an integer that every language can hold' : 'a JSON number'}`,
    );
  }
  // Negative zero is printed as 0, as the RFC asks.
  return String(value);
}

function renderArray(items: readonly unknown[], depth: number, integersOnly: boolean): string {
  let text = '[';
  // Counted, since holes in an array must be refused, not skipped.
  for (let i = 0; i < items.length; i += 1) {
    if (i > 0) text += ',';
    text += renderCanonical(items[i], depth + 1, integersOnly);
  }
  return `${text}]`;
}

function renderObject(object: object, depth: number, integersOnly: boolean): string {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new NotCanonical('not_json', 'only plain objects are JSON');
  }
  // The default order of sort() is by UTF-16 code units: exactly what the RFC asks for.
  const entries: [string, unknown][] = Object.entries(object);
  if (entries.length > 1) entries.sort(byKey);
  let text = '{';
  for (const [key, value] of entries) {
    text += `${text.length > 1 ? ',' : ''}${renderString(key)}:${renderCanonical(value, depth + 1, integersOnly)}`;
  }
  return `${text}}`;
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}
