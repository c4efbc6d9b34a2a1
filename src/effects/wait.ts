import type { Events } from '../state/event.ts';
import { MAX_ANSWER_DELAY_MS } from '../state/runs/decision.ts';

type Timer = Pick<Events['TimerSet'], 'due' | 'purpose'>;

/** Longer waits are split: Node's timers cannot wait 25 days, and the wall clock may be changed in between. */
const LONGEST_MS = 60_000;

/** The due time of these is a date set by another system. All others are a duration from when they were set. */
const CALENDAR_PURPOSES: ReadonlySet<Timer['purpose']['kind']> = new Set(['reset', 'day']);

/**
 * Resolves to true when due by the wall clock, false if cancelled. Setting the clock back does not lengthen a duration.
 */
export async function waitForTimer({ due, purpose }: Timer, now: () => Date, signal: AbortSignal): Promise<boolean> {
  const dueMs = Date.parse(due);
  const latestMs = CALENDAR_PURPOSES.has(purpose.kind) ? Infinity : performance.now() + dueMs - now().getTime();
  while (!signal.aborted) {
    const restMs = Math.min(dueMs - now().getTime(), latestMs - performance.now());
    if (restMs <= 0) return true;
    await sleepOrAbort(Math.min(restMs, LONGEST_MS), signal);
  }
  return false;
}

/**
 * Resolves to true when the answer takes effect, false if it is withdrawn. Unlike a timer, it does not end early if the
 * clock is set forward: the person may use the full time to withdraw the answer.
 */
export async function waitForAnswer(effectiveAt: string, now: () => Date, signal: AbortSignal): Promise<boolean> {
  const restMs = Math.min(Date.parse(effectiveAt) - now().getTime(), MAX_ANSWER_DELAY_MS);
  if (restMs > 0 && !signal.aborted) await sleepOrAbort(restMs, signal);
  return !signal.aborted;
}

async function sleepOrAbort(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    // A timer alone must not keep the daemon running.
    timer.unref();
    signal.addEventListener('abort', end, { once: true });
  });
}
