import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../ledger/format/canonical-json.ts';
import { redactJson } from '../../ledger/redact.ts';
import type { HandoffDialect, HandoffMessage } from '../../protocol/handoff/index.ts';

/**
 * The XML of a handoff as it may be recorded. The ledger redacts the text of the XML, in which a token can be spelled with character
 * references or be split by a comment; every reader of the handoff would put it together again. So the values are redacted here. Undefined
 * if the handoff is not valid without the credential.
 */
export function redactHandoff(
  xml: string,
  message: HandoffMessage,
  { parse, render }: Pick<HandoffDialect, 'parse' | 'render'>,
  secrets: readonly string[],
): string | undefined {
  const value = JSON.parse(JSON.stringify(message)) as JsonObject; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const clean = redactJson(value, secrets);
  if (isDeepStrictEqual(clean, value)) return xml;
  const parsed = parse(clean);
  return parsed.ok ? render(parsed.value) : undefined;
}
