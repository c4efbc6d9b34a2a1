/** Every limit on what is imported. Reaching one is a problem with its place; nothing is cut off. */
export const EXCHANGE_LIMITS = {
  tasks: 10_000,
  bytes: 8 * 1024 * 1024,
  /** Longer ones belong into the description: a title is one line in a table. */
  titleCharacters: 1000,
  /** What one entry of the ledger can hold, with room for the rest of it. */
  dependencies: 800,
  /** Parts of parts. */
  depth: 30,
  reasonCharacters: 1000,
  problems: 100,
} as const;
