import type { Event, Recorded } from '../state/event.ts';
import type { State } from '../state/state.ts';
import type { Tools } from './world.ts';

/** (state, entry) → what follows from it: entries to record in the same commit, what is owed to the outside among them. */
export function react(_state: State, _recorded: Recorded, _tools: Tools): readonly Event[] {
  return [];
}
