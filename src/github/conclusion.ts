/** How a check at GitHub ended, in the words of the CI gate. Anything unknown, such as `timed_out` or `action_required`, is no pass. */
export function checkOutcome(conclusion: unknown): 'passed' | 'failed' | 'cancelled' {
  return OUTCOMES.get(typeof conclusion === 'string' ? conclusion : '') ?? 'failed';
}

const OUTCOMES: ReadonlyMap<string, 'passed' | 'cancelled'> = new Map([
  ['success', 'passed'],
  ['neutral', 'passed'],
  ['skipped', 'passed'],
  ['cancelled', 'cancelled'],
  ['stale', 'cancelled'],
]);
