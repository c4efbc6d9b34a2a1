import type { Answer } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { RunWait } from '../../api/operations/run-wait.ts';
import type { InputOf } from '../../api/operations/registry.ts';
import { MAX_WAIT_MS } from '../operation-input.ts';

interface WaitOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** How much longer than the time a call may take: the daemon answers first, unless it was restarted meanwhile. */
  readonly graceMs?: number;
}

/**
 * Waits by calls that the daemon answers when something has happened. The client repeats a call whose daemon was restarted, with the whole
 * time again: so each call is given up when the time is up.
 */
export async function waitForRuns(
  client: Pick<Client, 'call'>,
  input: Omit<InputOf<'run_wait'>, 'wait_ms'>,
  { signal, timeoutMs, graceMs = GRACE_MS }: WaitOptions,
): Promise<Answer<RunWait>> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const left = Math.max(0, Math.ceil(until - performance.now()));
    const wait_ms = Math.min(MAX_WAIT_MS, left);
    const timeUp = AbortSignal.timeout(wait_ms + graceMs);
    const answer = await client.call('run_wait', { ...input, wait_ms }, { signal: AbortSignal.any([signal, timeUp]) });
    if (timeUp.aborted && !signal.aborted && !answer.ok) return client.call('run_wait', input, { signal });
    if (!answer.ok || answer.result.settled || signal.aborted || performance.now() >= until) return answer;
  }
}

const GRACE_MS = 2000;
