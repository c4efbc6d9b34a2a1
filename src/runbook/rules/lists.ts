import { DEFAULT_LIMITS } from '../build-limits.ts';
import { durationMs } from '../duration.ts';
import type { Subject } from '../subject.ts';

/** The small sections: what they list is listed once, and their figures fit each other. */
export function checkLists(subject: Subject): void {
  const { ci, limits, pipelines = {} } = subject.value;
  const names = (ci?.required ?? []).map(({ name }) => name);
  reportRepeated(names, (index) => ['ci', 'required', index, 'name'], 'check', subject);
  for (const [name, { vars }] of Object.entries(pipelines)) {
    if (Array.isArray(vars)) reportRepeated(vars, (index) => ['pipelines', name, 'vars', index], 'variable', subject);
  }
  const expiryMs = limits?.claim_expiry === undefined ? DEFAULT_LIMITS.claimExpiryMs : durationMs(limits.claim_expiry);
  const renewalMs = limits?.renewal === undefined ? DEFAULT_LIMITS.renewalMs : durationMs(limits.renewal);
  if (renewalMs * 2 <= expiryMs) return;
  const path = ['limits', limits?.renewal === undefined ? 'claim_expiry' : 'renewal'] as const;
  const message = 'a claim must live for at least two renewals';
  subject.report('invalid-value', path, message, 'Make `claim_expiry` longer, or `renewal` shorter.');
}

function reportRepeated(
  names: readonly unknown[],
  path: (index: number) => readonly (string | number)[],
  noun: string,
  subject: Subject,
): void {
  const seen = new Set<unknown>();
  for (const [index, name] of names.entries()) {
    if (seen.has(name))
      subject.report('runbook/defined-twice', path(index), `${noun} twice: ${String(name)}`, 'Keep one.');
    seen.add(name);
  }
}
