import type { Events } from '../state/event.ts';
import { MAX_ANSWER_DELAY_MS } from '../state/runs/decision.ts';

type Timer = Pick<Events['TimerSet'], 'due' | 'purpose'>;

/** Longer waits are split: Node's timers cannot wait 25 days, and the wall clock may be changed meanwhile. */
const LONGEST_MS = 60_000;

/** The due time of these is a date that another system sets; all others are a duration from when they were set. */
const CALENDAR_PURPOSES: ReadonlySet<Timer['purpose']['kind']> = new Set(['reset', 'day']);

/** True when due by the wall clock, false if cancelled. A clock that is set back does not lengthen a duration. */
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
 * True when the answer to a decision takes effect, false if it is withdrawn. Unlike a timer it does not end early if the clock is put
 * forward: a person may use all of the time to withdraw the answer.
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
