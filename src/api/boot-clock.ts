import { uptime } from 'node:os';

/**
 * Milliseconds of a monotonic clock that includes the time in which the machine slept, as a database's clock does.
 * `performance.now()` and timers stand still during sleep.
 */
export function bootMs(): number {
  const steadyMs = performance.now();
  if (steadyMs - readMs < READ_MS) return steadyMs + sleptMs;
  readMs = steadyMs;
  const leadMs = process.platform === 'linux' ? uptime() * 1000 - steadyMs : 0;
  if (leadMs - sleptMs > STEP_MS) sleptMs = leadMs;
  return steadyMs + sleptMs;
}

/** The system's uptime includes sleep, in steps of this length. Reading its file takes 10 µs. */
const READ_MS = 10;
let readMs = Number.NEGATIVE_INFINITY;

/** How far this clock is ahead of `performance.now()`; set by the first call. */
let sleptMs = Number.MIN_SAFE_INTEGER;
const STEP_MS = 50;
