/**
 * Waits for a condition without an event, until a deadline. Checks less and less often, because each check costs CPU
 * time here and in the daemon, which the awaited processes need.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = 60_000,
): Promise<T> {
  const begun = performance.now();
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    const waitedMs = performance.now() - begun;
    if (waitedMs > deadlineMs) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, pauseAfter(waitedMs));
    });
  }
}

/** A tenth of the time waited so far, between 5 and 100 ms. */
function pauseAfter(waitedMs: number): number {
  return Math.min(100, Math.max(5, waitedMs / 10));
}
