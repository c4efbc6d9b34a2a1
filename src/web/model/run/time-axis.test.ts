import { expect, it } from 'vitest';
import { axisOf, placeOn, ticksOf } from './time-axis.ts';

const at = (seconds: number): string => new Date(seconds * 1000).toISOString();

it('reaches from the first beginning to the last end, or to now', () => {
  expect(
    axisOf(
      [
        { from: at(10), to: at(20) },
        { from: at(5), to: at(8) },
      ],
      99_000,
    ),
  ).toEqual({ fromMs: 5000, toMs: 20_000 });
  expect(axisOf([{ from: at(10), to: null }], 99_000)).toEqual({ fromMs: 10_000, toMs: 99_000 });
  expect(axisOf([], 99_000)).toEqual({ fromMs: 99_000, toMs: 100_000 });
});

it('places bars in percent, inside the axis even if a clock was set back', () => {
  const axis = { fromMs: 0, toMs: 100_000 };
  expect(placeOn(axis, { from: at(25), to: at(75) }, 0)).toEqual({ x: 25, width: 50 });
  expect(placeOn(axis, { from: at(50), to: null }, 80_000)).toEqual({ x: 50, width: 30 });
  expect(placeOn(axis, { from: at(50), to: at(40) }, 0)).toEqual({ x: 50, width: 0 });
  expect(placeOn(axis, { from: at(-5), to: at(500) }, 0)).toEqual({ x: 0, width: 100 });
});

it.each([
  [4000, [0, 1000, 2000, 3000, 4000]],
  [50_000, [0, 10_000, 20_000, 30_000, 40_000, 50_000]],
  [600_000, [0, 120_000, 240_000, 360_000, 480_000, 600_000]],
  [30 * 86_400_000, [0, 5, 10, 15, 20, 25, 30].map((n) => n * 86_400_000)],
])('has at most a few marks at round distances in %i ms', (toMs, ticks) => {
  expect(ticksOf({ fromMs: 0, toMs })).toEqual(ticks);
});
