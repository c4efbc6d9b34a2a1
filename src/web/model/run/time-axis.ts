/** The time range of a timeline. */
export interface TimeAxis {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Bar {
  readonly from: string;
  readonly to: string | null;
}

/** The range from the first start to the last end; a current bar reaches to now. */
export function axisOf(bars: readonly Bar[], nowMs: number): TimeAxis {
  const from = bars.map((bar) => Date.parse(bar.from));
  const to = bars.map((bar) => (bar.to === null ? nowMs : Date.parse(bar.to)));
  const fromMs = Math.min(...from, ...(from.length === 0 ? [nowMs] : []));
  // At least a second, so that every bar is visible.
  return { fromMs, toMs: Math.max(fromMs + 1000, ...to) };
}

/** The position of a bar in percent of the axis. */
export function placeOn(
  { fromMs, toMs }: TimeAxis,
  { from, to }: Bar,
  nowMs: number,
): { readonly x: number; readonly width: number } {
  const all = toMs - fromMs;
  const [start, end] = [Date.parse(from), to === null ? nowMs : Date.parse(to)];
  const percent = (ms: number): number => Math.round(Math.min(100, Math.max(0, (ms / all) * 100)) * 100) / 100;
  const x = percent(start - fromMs);
  return { x, width: Math.max(0, percent(end - fromMs) - x) };
}

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
];
const MOST_TICKS = 6;

/** Returns at most six marks at round distances from the beginning, in milliseconds. */
export function ticksOf({ fromMs, toMs }: TimeAxis): readonly number[] {
  const all = toMs - fromMs;
  const step = STEPS.find((each) => all / each <= MOST_TICKS) ?? Math.ceil(all / MOST_TICKS / DAY) * DAY;
  return Array.from({ length: Math.floor(all / step) + 1 }, (_, i) => i * step);
}
