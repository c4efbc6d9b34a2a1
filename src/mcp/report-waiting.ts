import type { ServerContext } from '@modelcontextprotocol/server';

/**
 * Tells a client that asked for it, now and then, that a long call is still going on. Clients give up on silence, after a
 * minute as a rule, and start counting anew when they hear something.
 */
export function reportWaiting({ mcpReq }: ServerContext, input: unknown, everyMs: number): Disposable {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { [Symbol.dispose]: () => {} };
  const total = waitOf(input);
  const since = performance.now();
  const tell = (): void => {
    const progress = Math.round(performance.now() - since);
    const params = { progressToken, progress, ...(total === undefined ? {} : { total }), message: 'still waiting' };
    // A client that is gone cannot be told; the call itself finds that out.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
  const timer = setInterval(tell, everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function waitOf(input: unknown): number | undefined {
  if (typeof input !== 'object' || input === null || !('wait_ms' in input)) return undefined;
  return typeof input.wait_ms === 'number' ? input.wait_ms : undefined;
}
