import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import type { Answer } from '../api/answer.ts';
import { callTool, mayChangeTools, type ToolContext } from './call-tool.ts';
import { ListedTools, toolOperations } from './listed-tools.ts';
import { uncheckedSchema } from './tool-schema.ts';

/** Registers every tool, listed or not: the daemon's refusal explains more than an unknown tool would. */
export function registerTools(server: McpServer, calling: ToolContext): void {
  const listed = new ListedTools(server, calling);
  for (const operation of toolOperations()) {
    const { name, about, schema } = operation;
    const config = { description: about, inputSchema: uncheckedSchema<unknown>(schema) };
    server.registerTool(name, config, async (args, context) => {
      const answer = await callTool(calling, operation, args, context);
      if (mayChangeTools(operation, args, answer)) await listed.notifyIfChanged();
      return renderToolResult(answer);
    });
  }
  server.server.setRequestHandler('tools/list', async () => listed.list());
}

/** Renders errors as results too, so that the model reads them: the exact text first, then what to do next. */
function renderToolResult(answer: Answer): CallToolResult {
  if (answer.ok)
    return { content: [textContent(renderText(answer.result))], structuredContent: toStructured(answer.result) };
  const { code, message, hint } = answer.error;
  const content = hint === '' ? [textContent(message)] : [textContent(message), textContent(hint)];
  // The outbox keeps the call while the daemon is away. An error would make the model repeat it.
  if (code === 'kept') return { content, structuredContent: { kept: true } };
  return { content, structuredContent: { error: answer.error }, isError: true };
}

/** Renders a brief as prose and everything else as data. */
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
