import { isDiskFault, isShortage } from '../protocol/shortage.ts';

/**
 * Whether a failure says nothing about the agent or the task: there was no descriptor, no process or no room. The effect is tried again then.
 * If that lasts although the ledger can be written, it becomes an outcome, so that nothing waits in silence.
 */
export function isTransient(error: unknown, hinderedMs: number): boolean {
  return hinderedMs < MAX_TRANSIENT_MS && (isShortage(error) || isDiskFault(error));
}

/** How long such a failure is waited for, counted while the ledger can be written. */
export const MAX_TRANSIENT_MS = 120_000;
