import { describe, expect, it } from 'vitest';
import { plotDays, roundSteps, roundTimeSteps } from './day-plot.ts';

const size = { width: 700, height: 100 };

describe('the plot by day', () => {
  it('has a bar for each day, also for those without usage', () => {
    const { bars } = plotDays(new Map([['2026-02-27', 40], ['2026-03-02', 10]]), size); // prettier-ignore
    expect(bars.map(({ day, value }) => [day, value])).toEqual([
      ['2026-02-27', 40],
      ['2026-02-28', 0],
      ['2026-03-01', 0],
      ['2026-03-02', 10],
    ]);
  });

  it('draws each bar as high as its value, within the plot', () => {
    const { bars, ticks } = plotDays(new Map([['2026-01-01', 40], ['2026-01-02', 10]]), size); // prettier-ignore
    expect(ticks.map(({ value, y }) => [value, y])).toEqual([[0, 100], [10, 75], [20, 50], [30, 25], [40, 0]]); // prettier-ignore
    expect(bars.map(({ y, height }) => [y, height])).toEqual([[0, 100], [75, 25]]); // prettier-ignore
    for (const { x, width } of bars) expect(x >= 0 && x + width <= size.width).toBe(true);
  });

  it('shows the last 60 days, and names the last one', () => {
    const values = new Map([['2025-01-01', 5], ['2026-03-01', 1]]); // prettier-ignore
    const { bars, labels } = plotDays(values, size);
    expect(bars).toHaveLength(60);
    expect(labels.at(-1)?.day).toBe('2026-03-01');
    expect(labels.length).toBeLessThanOrEqual(6);
  });

  it('is empty without a day', () => {
    expect(plotDays(new Map(), size)).toEqual({ bars: [], ticks: [], labels: [] });
  });
});

describe('the steps of an axis', () => {
  it.each([
    [0, [0, 1]],
    [4, [0, 1, 2, 3, 4]],
    [7, [0, 2, 4, 6, 8]],
    [95, [0, 25, 50, 75, 100]],
    [1234, [0, 500, 1000, 1500]],
  ])('up to %d are round', (most, steps) => {
    expect(roundSteps(most)).toEqual(steps);
  });

  it.each([
    [8 * 60_000, [0, 2, 4, 6, 8].map((minutes) => minutes * 60_000)],
    [3 * 3_600_000, [0, 60, 120, 180].map((minutes) => minutes * 60_000)],
    [5000, [0, 2000, 4000, 6000]],
  ])('up to %d ms are whole minutes or hours', (most, steps) => {
    expect(roundTimeSteps(most)).toEqual(steps);
  });
});
