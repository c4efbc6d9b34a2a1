import type { Event, RecordedEvent } from '../state/event.ts';

/**
 * More than any chain of rules needs, besides two for each entry that was decided; a rule that answers to itself reaches it soon.
 */
export const MOST_REACTIONS = 5000;

/** A mistake in the rules, not in what was asked: nothing of it may be recorded. */
export class EndlessReaction extends Error {
  constructor(first: string, last: string) {
    super(`the rules never come to rest: ${first} led to more than ${MOST_REACTIONS} entries, the last one ${last}`);
    this.name = 'EndlessReaction';
  }
}

/**
 * Lets the rules react to entries, to what comes of that, and so on until nothing more follows. What was decided together is
 * recorded together before anything reacts to it: between a claim's end and the move that belongs to it there is no gap.
 */
export function reactUntilQuiet(
  first: readonly RecordedEvent[],
  react: (recorded: RecordedEvent) => readonly Event[],
  record: (event: Event, cause: RecordedEvent) => RecordedEvent,
): void {
  const queue = [...first];
  const most = MOST_REACTIONS + 3 * first.length;
  for (const cause of queue) {
    const reactions = react(cause);
    if (queue.length + reactions.length > most)
      throw new EndlessReaction(first[0]?.type ?? '', reactions.at(-1)?.type ?? '');
    for (const event of reactions) queue.push(record(event, cause));
  }
}
