import { defineMessage } from '../protocol/shape/message.ts';
import { parseJsonDocument } from '../protocol/text/json.ts';
import type { Answer } from './answer.ts';
import { requireDocumented } from './openapi/read-document.cases.ts';
import { OPERATIONS } from './operations/registry.ts';

/**
 * Throws if a result differs from its operation's declaration or from the OpenAPI document. Handlers are typed, but
 * types do not detect additional fields.
 */
export function requireResult(name: string, answer: Answer): void {
  const operation = OPERATIONS.get(name);
  if (!answer.ok || operation === undefined) return;
  if (answer.result === null && operation.result.nullable === true) return;
  // As sent, without undefined fields.
  const sent: unknown = JSON.parse(JSON.stringify(answer.result));
  const problems = defineMessage({ title: name, shape: operation.result, read: parseJsonDocument }).validate(sent);
  if (problems.length > 0) throw new Error(`the result of ${name} is not as declared: ${problems.join('; ')}`);
  requireDocumented(`/v1/${name}`, 'post', { ok: true, result: sent });
}
