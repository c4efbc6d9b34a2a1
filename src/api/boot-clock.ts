import { uptime } from 'node:os';

/**
 * Milliseconds of a monotonic clock that counts the time in which the machine slept, as the clock of a database does.
 * `performance.now()` and timers stand still meanwhile.
 */
export function bootMs(): number {
  const steadyMs = performance.now();
  if (steadyMs - readMs < READ_MS) return steadyMs + sleptMs;
  readMs = steadyMs;
  const leadMs = process.platform === 'linux' ? uptime() * 1000 - steadyMs : 0;
  if (leadMs - sleptMs > STEP_MS) sleptMs = leadMs;
  return steadyMs + sleptMs;
}

/** The system's uptime counts the sleep, in steps of this length. It is read from a file, which costs 10 µs. */
const READ_MS = 10;
let readMs = Number.NEGATIVE_INFINITY;

/** Of the first call on: how far this clock is ahead of the other. */
let sleptMs = Number.MIN_SAFE_INTEGER;
const STEP_MS = 50;
