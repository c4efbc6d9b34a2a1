import { PROTOCOL_LIMITS } from '../limits.ts';

/** A foreign value inside a message: whole where it is short, cut (never through a character) where it would drown it. */
export function quote(value: string): string {
  const start = firstCharacters(value, PROTOCOL_LIMITS.quotedCharacters);
  return start.length === value.length ? value : `${start}…`;
}

export function firstCharacters(value: string, count: number): string {
  return Array.from(value.slice(0, count * 2))
    .slice(0, count)
    .join('');
}
