import { isObject } from '../../protocol/shape/read-unknown.ts';

export function namesIn(value: unknown): string[] {
  return isObject(value) ? Object.keys(value) : [];
}

export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
