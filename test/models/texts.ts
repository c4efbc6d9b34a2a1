/** All text in a part of a message, however deep the API nests it. */
export function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textIn).filter(Boolean).join('\n');
  if (typeof value !== 'object' || value === null) return '';
  return TEXT_KEYS.map((key) => textIn((value as Record<string, unknown>)[key]))
    .filter(Boolean)
    .join('\n');
}

const TEXT_KEYS = ['text', 'content', 'output', 'parts', 'functionResponse', 'response', 'error'];

export function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
}
