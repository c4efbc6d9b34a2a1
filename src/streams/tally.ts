import type { TokenUsage, UsageEvent } from './stream-event.ts';

/** What a session has used: turns add up, and a count of the whole conversation stands in place of the one before. */
export interface UsageTally {
  readonly turns: TokenUsage;
  readonly conversation: TokenUsage;
  /** The conversations of subagents, by their ids, for clients that count whole conversations. */
  readonly others: Readonly<Record<string, TokenUsage>>;
  /** The messages of a turn that is not over, by their ids. */
  readonly open: Readonly<Record<string, TokenUsage>>;
  /** The turns that the client has named no price for, though it may have for others: those that were broken off, or in a person's terminal. */
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
      // A message is told when it begins, its turn when it is over: the turn knows better, unless it leaves something out.
      return addTurn(before, most(usage, openTurnUsage(before)));
    case 'conversation':
      // A count never goes down: it comes from the stream and from a file that the agent could write to.
      if (id === '') return { ...before, conversation: most(usage, before.conversation) };
      return { ...before, others: { ...before.others, [id]: most(usage, before.others[id] ?? NOTHING_USED) } };
    case 'message':
      if (isUpdate === true && before.open[id] === undefined) return before;
      return { ...before, open: { ...before.open, [id]: most(before.open[id] ?? NOTHING_USED, usage) } };
  }
}

/** The turn will not be told whole any more: what its messages said is all that is known. */
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

/** A price is known as soon as one part of it is. */
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

/** The price is that of the first: the other is part of it. */
function most(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: Math.max(a.input, b.input),
    output: Math.max(a.output, b.output),
    cacheRead: Math.max(a.cacheRead, b.cacheRead),
    cacheWrite: Math.max(a.cacheWrite, b.cacheWrite),
    costMillicents: a.costMillicents ?? b.costMillicents,
  };
}
