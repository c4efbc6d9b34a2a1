import { isObject } from '../../protocol/shape/read-unknown.ts';

/** The names in a table; none if it is not one. */
export function namesIn(value: unknown): string[] {
  return isObject(value) ? Object.keys(value) : [];
}

/** The texts in a list; none if it is not one. */
export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
