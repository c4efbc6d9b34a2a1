/**
 * Values that the agent must replace: a message that still contains one is refused. They differ from every real value.
 */
export const PLACEHOLDERS = {
  text: 'FILL IN',
  did: 'FILL IN: what you did',
  tip: 'FILL IN: what the next session should know',
  summary: 'FILL IN: what was done, and why so',
  sha: 'f111'.repeat(10),
  url: 'https://baton.invalid/fill-in',
  agent: 'fill-in',
  branch: 'fill-in/branch',
  digits: '0000000000',
  timestamp: '1970-01-01T00:00:00Z',
} as const;

/** The messages for which Baton offers a form. */
export const FORM_KINDS = ['record', 'result', 'handoff'] as const;
export type FormKind = (typeof FORM_KINDS)[number];

export function findPlaceholder(value: unknown, path = ''): string | undefined {
  if (typeof value === 'string') return KNOWN.has(plain(value)) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = findPlaceholder(inner, Array.isArray(value) ? `${path}[${name}]` : path ? `${path}.${name}` : name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Ignores case, white space and invisible characters, so that changing them does not count as filling in. */
function plain(text: string): string {
  const visible = text.normalize('NFKC').replaceAll(/\p{Cf}/gu, '');
  return visible.replaceAll(/\s+/g, ' ').trim().toLowerCase();
}

const KNOWN: ReadonlySet<string> = new Set(Object.values(PLACEHOLDERS).map(plain));
