import { setTimeout as delay } from 'node:timers/promises';

/** Returns undefined if the promise is still pending at the deadline. */
export async function beforeDeadline<T>(promise: Promise<T>, deadline: number): Promise<T | undefined> {
  const cancel = new AbortController();
  const late = delay(Math.max(0, deadline - performance.now()), undefined, { signal: cancel.signal });
  late.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    cancel.abort();
  }
}
