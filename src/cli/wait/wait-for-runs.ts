import type { Answer } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { RunWait } from '../../api/operations/run-wait.ts';
import type { InputOf } from '../../api/operations/registry.ts';
import { MAX_WAIT_MS } from '../operation-input.ts';

interface WaitOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** How long a call may exceed the time limit. The daemon answers first, unless it was restarted in the meantime. */
  readonly graceMs?: number;
}

/**
 * Waits with calls that the daemon answers after a change. If the daemon was restarted, the client repeats a call with
 * the full time, so each call is also aborted when the time is over.
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
