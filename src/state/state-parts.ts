import { emptyState, type State } from './state.ts';
import { TrackedMap } from './tracked-map.ts';

/** A state as it was at one moment. */
export interface StateView {
  readonly seq: number;
  readonly maps: readonly (readonly [name: string, entries: Iterable<readonly [string, unknown]>])[];
}

export function viewState(state: State): StateView {
  return { seq: state.seq, maps: mapsOf(state).map(([name, map]) => [name, map] as const) };
}

/** A view that later changes do not affect, for a reader that takes its time. Only one at a time. */
export function freezeState(state: State): StateView & { readonly release: () => void } {
  const frozen = mapsOf(state).map(([name, map]) => {
    if (!(map instanceof TrackedMap)) throw new Error('only a state of tracked maps can be frozen');
    return [name, map.freeze()] as const;
  });
  return {
    seq: state.seq,
    maps: frozen.map(([name, view]) => [name, view.entries()] as const),
    release: () => {
      for (const [, view] of frozen) view.release();
    },
  };
}

function mapsOf(state: State): readonly (readonly [string, Map<string, unknown>])[] {
  return Object.entries(state).flatMap(
    ([name, part]: [string, unknown]) => (part instanceof Map ? [[name, part as Map<string, unknown>] as const] : []), // oxlint-disable-line typescript/no-unsafe-type-assertion
  );
}

/** About what a daemon renders between two other requests: a millisecond of work. */
const PART_CHARACTERS = 128 * 1024;

/**
 * Renders a state as parts of JSON. Each part is computed when it is read, so the work can be spread over time. `types`:
 * the entry types that were folded; see `StateDecoder`.
 */
export function* encodeState(
  { seq, maps }: StateView,
  types: Iterable<string>,
  partCharacters: number = PART_CHARACTERS,
): Generator<string> {
  yield JSON.stringify({ seq, types: [...types] });
  for (const [name, entries] of maps) {
    let pairs: string[] = [];
    let size = 0;
    for (const pair of entries) {
      const text = JSON.stringify(pair);
      pairs.push(text);
      size += text.length;
      if (size < partCharacters) continue;
      yield renderPart(name, pairs);
      pairs = [];
      size = 0;
    }
    if (pairs.length > 0) yield renderPart(name, pairs);
  }
}

function renderPart(name: string, pairs: readonly string[]): string {
  return `[${JSON.stringify(name)},[${pairs.join(',')}]]`;
}

/** Restores a state from its parts. Throws a TypeError or SyntaxError if they are not those of a state. */
export class StateDecoder {
  readonly state: State;
  readonly #maps: ReadonlyMap<string, Map<string, unknown>>;
  #types: ReadonlySet<string> | undefined;

  constructor(newMap?: <V>() => Map<string, V>) {
    this.state = emptyState(newMap);
    this.#maps = new Map(mapsOf(this.state));
  }

  /** The entry types that were folded into the state. Another set means another fold. */
  get types(): ReadonlySet<string> {
    return this.#types ?? new Set();
  }

  add(text: string): void {
    const part: unknown = JSON.parse(text);
    if (this.#types === undefined) this.#readHeader(part);
    else for (const [name, key, value] of pairsOf(part)) this.#mapOf(name).set(key, value);
  }

  #readHeader(part: unknown): void {
    const { seq, types } = Object(part) as { readonly seq?: unknown; readonly types?: unknown }; // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (typeof seq !== 'number' || !Array.isArray(types)) throw new TypeError('not a state');
    this.state.seq = seq;
    this.#types = new Set(types.map(String));
  }

  #mapOf(name: string): Map<string, unknown> {
    const map = this.#maps.get(name);
    if (map === undefined) throw new TypeError(`not a state: ${name}`);
    return map;
  }
}

/** The entries of a part: map, key and value. */
export function* pairsOf(part: unknown): Generator<readonly [map: string, key: string, value: unknown]> {
  const [name, pairs]: readonly unknown[] = Array.isArray(part) ? part : [];
  if (typeof name !== 'string' || !Array.isArray(pairs)) throw new TypeError('not a part of a state');
  for (const pair of pairs as readonly unknown[]) {
    const [key, value]: readonly unknown[] = Array.isArray(pair) ? pair : [];
    if (typeof key !== 'string') throw new TypeError(`not a state: ${name}`);
    yield [name, key, value];
  }
}
