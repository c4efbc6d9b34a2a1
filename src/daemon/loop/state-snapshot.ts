import { emptyState, type State } from '../../state/state.ts';
import { TrackedMap } from '../../state/tracked-map.ts';

/** Raised whenever the fold changes: an old snapshot is then ignored, and the state is folded anew. */
export const SNAPSHOT_NAME = 'state-14';

export function createTrackedState(): State {
  return emptyState(() => new TrackedMap());
}

/** A state as bytes. It is derived data: losing it costs time, nothing else. */
export function renderState(state: State): Uint8Array {
  const parts = Object.entries(state).map(([name, value]: [string, unknown]) => [
    name,
    value instanceof Map ? [...value] : value,
  ]);
  return new TextEncoder().encode(JSON.stringify(Object.fromEntries(parts)));
}

export function parseState(bytes: Uint8Array): State | undefined {
  try {
    const parts: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const state = createTrackedState();
    if (typeof parts !== 'object' || parts === null) return undefined;
    for (const [name, value] of Object.entries(parts)) {
      if (name === 'seq' && typeof value === 'number') state.seq = value;
      else fillCollection(state, name, value);
    }
    return state;
  } catch {
    return undefined;
  }
}

function fillCollection(state: State, name: string, value: unknown): void {
  const map = Object.entries(state).find(([known]) => known === name)?.[1];
  if (!(map instanceof Map) || !Array.isArray(value)) throw new TypeError(`not a snapshot: ${name}`);
  for (const [key, item] of value) map.set(key, item);
}
