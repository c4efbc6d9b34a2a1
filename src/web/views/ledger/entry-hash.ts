import { canonicalJson } from '../../../ledger/format/canonical-json.ts';
import { fieldsInJson, textOf } from '../../../protocol/shape/read-unknown.ts';

/** The recorded hash in a line. */
export function hashOfLine(line: string): string {
  return textOf(fieldsInJson(line)['hash']);
}

/**
 * Computes the hash of the entry itself: a leaf as in RFC 6962, over its canonical text. Undefined if the line has no
 * entry.
 */
export async function hashOfEntry(line: string): Promise<string | undefined> {
  const text = canonicalJson(fieldsInJson(line)['entry']);
  if (!text.ok) return undefined;
  const leaf = new TextEncoder().encode(`\0${text.value}`);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', leaf));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
