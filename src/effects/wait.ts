import type { Effect } from '../state/runs/effect.ts';

type Wait = Extract<Effect, { kind: 'wait' }>;

/** No timer is set for longer: Node's cannot wait 25 days, and the time of day may be set meanwhile. */
const LONGEST_MS = 60_000;

/** Resolves when the time has come, by the clock on the wall, which may jump; false where it was called off. */
export async function wait({ due }: Wait, now: () => Date, signal: AbortSignal): Promise<boolean> {
  const dueMs = Date.parse(due);
  while (!signal.aborted) {
    const restMs = dueMs - now().getTime();
    if (restMs <= 0) return true;
    await pause(Math.min(restMs, LONGEST_MS), signal);
  }
  return false;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
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
