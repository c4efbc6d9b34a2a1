import type { TokenUsage, UsageEvent } from './stream-event.ts';

/** The usage of a session: turns add up, and the total of a conversation replaces the previous total. */
export interface UsageTally {
  readonly turns: TokenUsage;
  readonly conversation: TokenUsage;
  /** Totals of subagents' conversations by id. */
  readonly others: Readonly<Record<string, TokenUsage>>;
  /** Messages of the running turn by id. */
  readonly open: Readonly<Record<string, TokenUsage>>;
  /** The usage of turns without a price: interrupted turns, or turns in a user's terminal. */
  readonly unpriced: TokenUsage;
}

export const NOTHING_USED: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costMillicents: null };

export const EMPTY_TALLY: UsageTally = {
  turns: NOTHING_USED,
  conversation: NOTHING_USED,
  others: {},
  open: {},
  unpriced: NOTHING_USED,
};

export function addToTally(before: UsageTally, { usage, of, id = '', isUpdate }: UsageEvent): UsageTally {
  switch (of) {
    case 'turn':
      // A message is reported at its start, the turn at its end: the turn's usage is more exact, unless it omits
      // something.
      return addTurn(before, most(usage, openTurnUsage(before)));
    case 'conversation':
      // A total never decreases, although it comes from both the stream and a file that the agent could write.
      if (id === '') return { ...before, conversation: most(usage, before.conversation) };
      return { ...before, others: { ...before.others, [id]: most(usage, before.others[id] ?? NOTHING_USED) } };
    case 'message':
      if (isUpdate === true && before.open[id] === undefined) return before;
      return { ...before, open: { ...before.open, [id]: most(before.open[id] ?? NOTHING_USED, usage) } };
  }
}

/** Ends a turn that the client will not report; only its messages are counted. */
export function closeTurn(before: UsageTally): UsageTally {
  return addTurn(before, openTurnUsage(before));
}

function addTurn(before: UsageTally, turn: TokenUsage): UsageTally {
  const unpriced = turn.costMillicents === null ? addUsage(before.unpriced, turn) : before.unpriced;
  return { ...before, turns: addUsage(before.turns, turn), open: {}, unpriced };
}

export function openTurnUsage({ open }: UsageTally): TokenUsage {
  return Object.values(open).reduce(addUsage, NOTHING_USED);
}

export function totalUsage(all: UsageTally): TokenUsage {
  return [all.turns, all.conversation, ...Object.values(all.others), openTurnUsage(all)].reduce(addUsage);
}

export function countTokens({ input, output, cacheRead, cacheWrite }: TokenUsage): number {
  return input + output + cacheRead + cacheWrite;
}

/** Adds two usages. The sum has a price if one of them has. */
export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  const isPriced = a.costMillicents !== null || b.costMillicents !== null;
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    costMillicents: isPriced ? (a.costMillicents ?? 0) + (b.costMillicents ?? 0) : null,
  };
}

/** The maximum of two usages, with the price of the first, which includes the other. */
function most(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: Math.max(a.input, b.input),
    output: Math.max(a.output, b.output),
    cacheRead: Math.max(a.cacheRead, b.cacheRead),
    cacheWrite: Math.max(a.cacheWrite, b.cacheWrite),
    costMillicents: a.costMillicents ?? b.costMillicents,
  };
}
