import type { Effect } from '../state/runs/effect.ts';

type Wait = Extract<Effect, { kind: 'wait' }>;

/** No timer is set for longer: Node's cannot wait 25 days, and the time of day may be set meanwhile. */
const LONGEST_MS = 60_000;

/** When these are due somebody else's calendar says; all others are so much time from when they were set. */
const CALENDAR_PURPOSES: ReadonlySet<Wait['purpose']['kind']> = new Set(['reset', 'day']);

/**
 * Resolves when the time has come, by the clock on the wall, which may jump; false where it was called off. A length of time does not get
 * longer where that clock is put back.
 */
export async function waitForTimer({ due, purpose }: Wait, now: () => Date, signal: AbortSignal): Promise<boolean> {
  const dueMs = Date.parse(due);
  const latestMs = CALENDAR_PURPOSES.has(purpose.kind) ? Infinity : performance.now() + dueMs - now().getTime();
  while (!signal.aborted) {
    const restMs = Math.min(dueMs - now().getTime(), latestMs - performance.now());
    if (restMs <= 0) return true;
    await sleepOrAbort(Math.min(restMs, LONGEST_MS), signal);
  }
  return false;
}

async function sleepOrAbort(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    // A timer alone keeps no daemon alive: it is a process with open doors.
    timer.unref();
    signal.addEventListener('abort', end, { once: true });
  });
}
