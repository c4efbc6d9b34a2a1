import { emptyState, type State } from './state.ts';

/** A state as JSON, with each map as a list of pairs. */
export type StateJson = Readonly<Record<string, unknown>>;

export function toStateJson(state: State): StateJson {
  const parts = Object.entries(state).map(([name, part]: [string, unknown]) => [
    name,
    part instanceof Map ? [...part] : part,
  ]);
  return Object.fromEntries(parts) as StateJson; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** The inverse of the above. Missing maps stay empty. Throws a TypeError if the value is not a state. */
export function restoreState(json: unknown, newMap?: <V>() => Map<string, V>): State {
  if (typeof json !== 'object' || json === null) throw new TypeError('not a state');
  const state = emptyState(newMap);
  const maps = new Map<string, unknown>(Object.entries(state));
  for (const [name, part] of Object.entries(json)) {
    if (name === 'seq' && typeof part === 'number') state.seq = part;
    else fillMap(maps.get(name), name, part);
  }
  return state;
}

function fillMap(map: unknown, name: string, pairs: unknown): void {
  if (!(map instanceof Map) || !Array.isArray(pairs)) throw new TypeError(`not a state: ${name}`);
  for (const [key, value] of pairs) map.set(key, value);
}
