import { LIMITS } from './limits.ts';

/** A foreign value inside a message: whole where it is short, cut (never through a character) where it would drown it. */
export function quote(value: string): string {
  if (value.length <= LIMITS.quotedCharacters) return value;
  return `${firstCharacters(value, LIMITS.quotedCharacters)}…`;
}

export function firstCharacters(value: string, count: number): string {
  return Array.from(value.slice(0, count * 2))
    .slice(0, count)
    .join('');
}
