import { expect, it } from 'vitest';
import { given } from './given.cases.ts';
import { claim, create, operator, worker } from './say.cases.ts';
import { encodeState, freezeState, StateDecoder, viewState } from './state-parts.ts';
import { emptyState, type State } from './state.ts';
import { TrackedMap } from './tracked-map.ts';

const TYPES = ['TaskCreated', 'TaskClaimed'];

function aState(): State {
  return given([...Array.from({ length: 40 }, (_, i) => [create(`T${i}`), operator] as const), [claim('T0'), worker]])
    .state;
}

function tracked(from: State): State {
  return decode(encodeState(viewState(from), TYPES), () => new TrackedMap()).state;
}

function decode(parts: Iterable<string>, newMap?: <V>() => Map<string, V>): StateDecoder {
  const decoder = new StateDecoder(newMap);
  for (const part of parts) decoder.add(part);
  return decoder;
}

it('restores a state from its parts, of any size', () => {
  const state = aState();
  for (const size of [1, 500, 1_000_000]) {
    const parts = [...encodeState(viewState(state), TYPES, size)];
    const decoder = decode(parts);
    expect(decoder.state).toEqual(state);
    expect([...decoder.types]).toEqual(TYPES);
  }
});

it('has parts of about the given size, however large the state is', () => {
  const parts = [...encodeState(viewState(aState()), TYPES, 2000)];
  expect(parts.length).toBeGreaterThan(10);
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(2000 + 1500);
});

it('has no part for an empty map', () => {
  expect([...encodeState(viewState(emptyState()), [])]).toEqual(['{"seq":0,"types":[]}']);
});

it('shows a frozen state as it was, while the state changes in any way', () => {
  const state = tracked(aState());
  const before = [...encodeState(viewState(state), TYPES, 100)];
  const frozen = freezeState(state);
  const seen: string[] = [];
  const tasks = state.tasks as TrackedMap<string, unknown>; // oxlint-disable-line typescript/no-unsafe-type-assertion
  let n = 0;
  for (const part of encodeState(frozen, TYPES, 100)) {
    seen.push(part);
    n += 1;
    tasks.begin();
    tasks.set(`T${n % 40}`, { changed: n });
    tasks.delete(`T${(7 * n) % 40}`);
    tasks.set(`new-${n}`, { added: n });
    if (n % 3 === 0) tasks.revert();
  }
  expect(seen).toEqual(before);
  frozen.release();
  const later = [...encodeState(viewState(state), TYPES, 100)];
  expect(later).not.toEqual(before);
  const again = freezeState(state);
  expect([...encodeState(again, TYPES, 100)]).toEqual(later);
  again.release();
});

it.each([
  ['no header', ['["tasks",[]]']],
  ['a part of no map', ['{"seq":1,"types":[]}', '["nothing",[["a",1]]]']],
  ['a part without pairs', ['{"seq":1,"types":[]}', '["tasks",[1]]']],
  ['no JSON', ['{"seq":1,"types":[]}', '["tasks"']],
])('refuses %s', (_, parts) => {
  expect(() => decode(parts)).toThrow(Error);
});
