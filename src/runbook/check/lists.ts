import { DEFAULT_LIMITS } from '../build/build-limits.ts';
import { parseDuration } from '../shape/duration.ts';
import type { RunbookSubject } from './subject.ts';

/** The small sections: what they list is listed once, and their figures fit each other. */
export function checkLists(subject: RunbookSubject): void {
  const { ci, limits, pipelines = {} } = subject.value;
  const names = (ci?.required ?? []).map(({ name }) => name);
  reportRepeated(names, (index) => ['ci', 'required', index, 'name'], 'check', subject);
  for (const [name, { vars }] of Object.entries(pipelines)) {
    if (Array.isArray(vars)) reportRepeated(vars, (index) => ['pipelines', name, 'vars', index], 'variable', subject);
  }
  const expiryMs =
    limits?.claim_expiry === undefined ? DEFAULT_LIMITS.claimExpiryMs : parseDuration(limits.claim_expiry);
  const renewalMs = limits?.renewal === undefined ? DEFAULT_LIMITS.renewalMs : parseDuration(limits.renewal);
  if (renewalMs * 2 <= expiryMs) return;
  const path = ['limits', limits?.renewal === undefined ? 'claim_expiry' : 'renewal'] as const;
  const message = 'a claim must live for at least two renewals';
  subject.report('invalid-value', path, message, 'Make `claim_expiry` longer, or `renewal` shorter.');
}

function reportRepeated(
  names: readonly unknown[],
  path: (index: number) => readonly (string | number)[],
  noun: string,
  subject: RunbookSubject,
): void {
  const seen = new Set<unknown>();
  for (const [index, name] of names.entries()) {
    if (seen.has(name))
      subject.report('runbook/defined-twice', path(index), `${noun} twice: ${String(name)}`, 'Keep one.');
    seen.add(name);
  }
}
