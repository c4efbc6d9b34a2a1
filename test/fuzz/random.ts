/** A small, fast and repeatable generator (mulberry32): the same seed gives the same run on every machine. */
export interface Random {
  /** A whole number from 0 up to `below`, exclusive. */
  readonly below: (below: number) => number;
  readonly pick: <T>(items: readonly T[]) => T;
}

export function randomFrom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number): number => (limit < 1 ? 0 : next() % limit);
  return {
    below,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new RangeError('nothing to pick from');
      return item;
    },
  };
}
