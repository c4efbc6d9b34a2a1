import { uptime } from 'node:os';

/**
 * Milliseconds of a monotonic clock that counts the time in which the machine slept, as the clock of a database does.
 * `performance.now()` and timers stand still meanwhile.
 */
export function bootMs(): number {
  const steadyMs = performance.now();
  // The system's uptime counts it, in steps of ten milliseconds.
  const leadMs = process.platform === 'linux' ? uptime() * 1000 - steadyMs : 0;
  if (leadMs - sleptMs > STEP_MS) sleptMs = leadMs;
  return steadyMs + sleptMs;
}

/** Of the first call on: how far this clock is ahead of the other. */
let sleptMs = Number.MIN_SAFE_INTEGER;
const STEP_MS = 50;
