import { signal } from '@preact/signals';

/** The current time, for everything that shows an age: one clock for the page. */
export const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, 1000);
document.addEventListener('visibilitychange', () => void (now.value = Date.now()));

const STEPS = [
  [60, 's'],
  [60, 'min'],
  [24, 'h'],
  [Infinity, 'd'],
] as const;

/** Renders `48 s`, `12 min`, `3 h` or `2 d`. */
export function renderAge(ms: number): string {
  let rest = Math.max(0, ms / 1000);
  for (const [size, unit] of STEPS) {
    if (rest < size) return `${Math.floor(rest)} ${unit}`;
    rest /= size;
  }
  return '';
}

/** Renders `1.2 s`, `3 min 20 s` or `2 h 5 min`. */
export function renderSpan(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Renders the local time of day, with the date if it is not today. */
export function renderTime(at: string | number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString('en-GB');
  return date.toDateString() === new Date(now.peek()).toDateString()
    ? time
    : `${date.toISOString().slice(0, 10)} ${time}`;
}

/** The age of an event. The tooltip has the exact time. */
export function Age({
  at,
  suffix = '',
}: {
  readonly at: string | number | null | undefined;
  readonly suffix?: string;
}) {
  if (at === null || at === undefined) return null;
  const date = new Date(at);
  return (
    <time class="number" dateTime={date.toISOString()} title={date.toISOString()}>
      {renderAge(now.value - date.getTime())}
      {suffix}
    </time>
  );
}
