/** One bar of a plot by day. */
interface DayBar {
  readonly day: string;
  readonly value: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface DayPlot {
  readonly bars: readonly DayBar[];
  /** Lines across the plot, from 0 up. */
  readonly ticks: readonly { readonly value: number; readonly y: number }[];
  /** The labels below the plot, as many as fit. */
  readonly labels: readonly { readonly day: string; readonly x: number }[];
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const MOST_DAYS = 60;
const MOST_LABELS = 6;
const WIDEST_BAR = 32;
const DAY_MS = 86_400_000;

/** Plots values by day. Days without usage are part of the axis, because gaps matter too. */
export function plotDays(
  values: ReadonlyMap<string, number>,
  { width, height }: Size,
  steps: (most: number) => readonly number[] = roundSteps,
): DayPlot {
  const days = daysBetween([...values.keys()].sort());
  if (days.length === 0) return { bars: [], ticks: [], labels: [] };
  const ticks = steps(Math.max(...days.map((day) => values.get(day) ?? 0)));
  const top = ticks.at(-1) ?? 1;
  const slot = width / days.length;
  const barWidth = Math.min(WIDEST_BAR, slot * 0.7);
  const heightOf = (value: number): number => (value / top) * height;
  const middle = (i: number): number => (i + 0.5) * slot;
  const every = Math.ceil(days.length / MOST_LABELS);
  return {
    bars: days.map((day, i) => {
      const value = values.get(day) ?? 0;
      const own = heightOf(value);
      return { day, value, x: middle(i) - barWidth / 2, y: height - own, width: barWidth, height: own };
    }),
    ticks: ticks.map((value) => ({ value, y: height - heightOf(value) })),
    labels: days.map((day, i) => ({ day, x: middle(i) })).filter((_, i) => (days.length - 1 - i) % every === 0),
  };
}

function daysBetween(known: readonly string[]): readonly string[] {
  const [first, last] = [known.at(0), known.at(-1)];
  if (first === undefined || last === undefined) return [];
  const end = Date.parse(last);
  const from = Math.max(Date.parse(first), end - (MOST_DAYS - 1) * DAY_MS);
  const days: string[] = [];
  for (let at = from; at <= end; at += DAY_MS) days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}

const STEPS = 4;

/** Up to five round numbers from 0 to at least the largest value. */
export function roundSteps(most: number): readonly number[] {
  if (most <= 0) return [0, 1];
  const rough = most / STEPS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? rough;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step);
}

const MINUTE_MS = 60_000;
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720, 1440].map((minutes) => minutes * MINUTE_MS);

/** Like `roundSteps` for milliseconds: whole minutes and hours are round. */
export function roundTimeSteps(mostMs: number): readonly number[] {
  if (mostMs < MINUTE_MS) return roundSteps(Math.max(mostMs, 1000));
  const step = TIME_STEPS.find((each) => each * STEPS >= mostMs) ?? roundSteps(mostMs)[1] ?? mostMs;
  return Array.from({ length: Math.ceil(mostMs / step) + 1 }, (_, i) => i * step);
}
