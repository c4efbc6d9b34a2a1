import type { Event, RecordedEvent } from '../state/event.ts';

/**
 * More than any chain of rules needs, in addition to two per decided entry. A rule that reacts to its own entries soon
 * reaches it.
 */
export const MOST_REACTIONS = 5000;

/** Thrown for a bug in the rules. Nothing of the request may be recorded. */
export class EndlessReaction extends Error {
  constructor(first: string, last: string) {
    super(`the rules never come to rest: ${first} led to more than ${MOST_REACTIONS} entries, the last one ${last}`);
    this.name = 'EndlessReaction';
  }
}

/**
 * Runs the rules on entries, on the entries that follow, and so on until nothing more follows. Entries that were
 * decided together are all folded before any rule reacts, so no rule sees the end of a claim without the move that
 * belongs to it.
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
