import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Answer } from '../api/answer.ts';

/**
 * An answer as a tool result. An error is a result too, so that the model reads it: the exact text first, then what to do
 * next.
 */
export function renderToolResult(answer: Answer): CallToolResult {
  if (answer.ok)
    return { content: [textContent(renderText(answer.result))], structuredContent: toStructured(answer.result) };
  const { code, message, hint } = answer.error;
  const content = hint === '' ? [textContent(message)] : [textContent(message), textContent(hint)];
  // While the daemon is away the outbox has it: that is no failure, and sending it again would say it twice.
  if (code === 'kept') return { content, structuredContent: { kept: true } };
  return { content, structuredContent: { error: answer.error }, isError: true };
}

/** A brief is written to be read; everything else is data. */
function renderText(result: unknown): string {
  const { text: written } = toStructured(result);
  return typeof written === 'string' ? written : JSON.stringify(result ?? {});
}

function toStructured(result: unknown): Record<string, unknown> {
  if (typeof result === 'object' && result !== null && !Array.isArray(result)) return { ...result };
  return result === null || result === undefined ? {} : { result };
}

function textContent(words: string): { type: 'text'; text: string } {
  return { type: 'text', text: words };
}
