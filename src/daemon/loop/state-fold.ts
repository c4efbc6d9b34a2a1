import { isDeepStrictEqual } from 'node:util';
import type { Entry } from '../../ledger/format/entry.ts';
import type { StateFold } from '../../ledger/verify/fold-again.ts';
import { toRecordedEvent } from '../../state/recorded-event.ts';
import { evolve, type State } from '../../state/state.ts';
import { parseState, renderState, SNAPSHOT_NAME, createTrackedState } from './state-snapshot.ts';

/** Folds one entry into the state, as the daemon does when it starts. */
export function foldEntry(state: State, entry: Entry): void {
  const recorded = toRecordedEvent(entry);
  if (recorded !== undefined) evolve(state, recorded);
  state.seq = entry.seq;
}

/** The fold of this version, for `baton ledger verify`. */
export const STATE_FOLD: StateFold = {
  name: SNAPSHOT_NAME,
  begin() {
    const state = createTrackedState();
    return {
      take: (entry) => foldEntry(state, entry),
      // The order of keys depends on how the state came about (restarts, commits that were taken back) and means nothing.
      equals: (bytes) => isDeepStrictEqual(parseState(bytes), parseState(renderState(state))),
    };
  },
};
