import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareUrgency, createQueue, type QueuePosition } from './ready.ts';

/** Many small changes and a few large ones, to cover both ways of changing the order. */
const batch = fc.oneof(
  { weight: 3, arbitrary: fc.array(fc.tuple(fc.nat(199), fc.nat(4), fc.boolean()), { maxLength: 5 }) },
  { weight: 1, arbitrary: fc.array(fc.tuple(fc.nat(199), fc.nat(4), fc.boolean()), { minLength: 80, maxLength: 200 }) },
);

it('stays in order for changes of any size', () => {
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 12, size: 'max' }), (batches) => {
      const queue = createQueue();
      const there = new Map<string, QueuePosition>();
      for (const changes of batches) {
        // Each task once, with marks of what may have changed.
        const news = new Map(
          changes.map(([n, chain, stays]) => [
            n,
            { stays, place: { id: `t${n}`, n, chain, priority: chain % 2, depth: n % 2 } },
          ]),
        );
        const out = [...news.values()].flatMap(({ place }) => there.get(place.id) ?? []);
        const put = [...news.values()].filter(({ stays }) => stays).map(({ place }) => place);
        queue.change(out, put);
        for (const { id } of out) there.delete(id);
        for (const place of put) there.set(place.id, place);
        expect(queue.first(1_000)).toEqual([...there.values()].sort(compareUrgency));
      }
    }),
  );
});
