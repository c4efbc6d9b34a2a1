/**
 * What stands in the forms that Baton gives to a session until the agent fills them in. A message that still has one of these as a whole value
 * says nothing, so it is refused. Those after `summary` fit a format of elements (`ELEMENT_FORMATS`), and no true value looks like them.
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

/** The dotted path of the first value that is nothing but a placeholder, at any depth; undefined if everything is filled in. */
export function findPlaceholder(value: unknown, path = ''): string | undefined {
  if (typeof value === 'string') return KNOWN.has(plain(value)) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = findPlaceholder(inner, Array.isArray(value) ? `${path}[${name}]` : path ? `${path}.${name}` : name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Case, white space and invisible characters do not make a placeholder an answer. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

const KNOWN: ReadonlySet<string> = new Set(Object.values(PLACEHOLDERS).map(plain));
