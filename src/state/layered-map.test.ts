import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LayeredMap } from './layered-map.ts';

const KEYS = ['a', 'b', 'c', 'd'] as const;
const key = fc.constantFrom(...KEYS);
const change = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key, value: fc.nat(9) }),
  fc.record({ kind: fc.constant('delete' as const), key, value: fc.constant(0) }),
  fc.record({ kind: fc.constant('clear' as const), key, value: fc.constant(0) }),
);

it('reads as a copy that was changed in the same way, and leaves the map below unchanged', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.nat(9))), fc.array(change), (pairs, changes) => {
      const below = new Map(pairs);
      const before = [...below];
      const copy = new Map(below);
      const layer = new LayeredMap(below);
      for (const map of [copy, layer]) {
        for (const { kind, key: at, value } of changes) {
          if (kind === 'set') map.set(at, value);
          else if (kind === 'delete') map.delete(at);
          else map.clear();
        }
      }
      expect([...layer]).toEqual([...copy]);
      expect([...layer.keys()]).toEqual([...copy.keys()]);
      expect([...layer.values()]).toEqual([...copy.values()]);
      expect(layer.size).toBe(copy.size);
      const each: unknown[] = [];
      layer.forEach((value, at) => each.push([at, value]));
      expect(each).toEqual([...copy]);
      for (const at of KEYS) expect([layer.has(at), layer.get(at)]).toEqual([copy.has(at), copy.get(at)]);
      expect([...below]).toEqual(before);
    }),
  );
});
