import { canonicalJson, type JsonObject } from '../../ledger/format/canonical-json.ts';
import { mayHoldCredential, redactJson } from '../../ledger/redact.ts';

/**
 * Whether the ledger would take something out of this. A plan without its secret would run all the same, and do something else than
 * was meant: better not at all.
 */
export function holdsCredential(value: object, secrets: readonly string[]): boolean {
  const text = canonicalJson(value);
  if (!text.ok || !mayHoldCredential(text.value, secrets)) return false;
  const parsed = { value: JSON.parse(text.value) } as JsonObject; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const redacted = canonicalJson(redactJson(parsed, secrets)['value']);
  return redacted.ok && redacted.value !== text.value;
}
