import type { Usage, UsageSaid } from './said.ts';

/** What a session has used: turns add up, and a count of the whole conversation stands in place of the one before. */
export interface Tally {
  readonly turns: Usage;
  readonly conversation: Usage;
}

export const NOTHING_USED: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costMillicents: null };

export const EMPTY_TALLY: Tally = { turns: NOTHING_USED, conversation: NOTHING_USED };

export function tally(before: Tally, { usage, of }: UsageSaid): Tally {
  return of === 'turn' ? { ...before, turns: plus(before.turns, usage) } : { ...before, conversation: usage };
}

export function totalOf({ turns, conversation }: Tally): Usage {
  return plus(turns, conversation);
}

/** A price is known as soon as one part of it is. */
export function plus(a: Usage, b: Usage): Usage {
  const isPriced = a.costMillicents !== null || b.costMillicents !== null;
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    costMillicents: isPriced ? (a.costMillicents ?? 0) + (b.costMillicents ?? 0) : null,
  };
}
