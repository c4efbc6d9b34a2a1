import type { AgentError } from '../protocol/run-plan.ts';

/** Which of the four kinds an API error is, by what the client says about it. What nobody knows counts as: the model cannot be reached. */
export function agentError(text: string): AgentError {
  return KINDS.find(([, pattern]) => pattern.test(text))?.[0] ?? 'no_internet';
}

const KINDS: readonly (readonly [AgentError, RegExp])[] = [
  ['out_of_credits', /out.of.credits|billing|credit|payment|insufficient.(?:quota|funds)|\b402\b/i],
  ['rate_limited', /rate.?limit|usage.limit|overloaded|too.many.requests|quota|\b429\b|\b529\b/i],
  [
    'unauthorized',
    /unauthori[sz]ed|authenticat|forbidden|permission_error|invalid.*(?:api.?key|token)|\b401\b|\b403\b/i,
  ],
];

/** When a limit is lifted, as RFC 3339: a field that says so, or the seconds that Claude Code puts behind a bar. */
export function resetTime(field: unknown, text: string): string | null {
  if (typeof field === 'string' && !Number.isNaN(Date.parse(field))) return new Date(field).toISOString();
  const seconds = /\|(\d{10})\b/.exec(text)?.[1];
  return seconds === undefined ? null : new Date(Number(seconds) * 1000).toISOString();
}
