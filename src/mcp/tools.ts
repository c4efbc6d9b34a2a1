import type { CallToolResult, McpServer, ToolAnnotations } from '@modelcontextprotocol/server';
import type { Answer } from '../api/answer.ts';
import type { Operation } from '../api/operations/operation.ts';
import { OPERATIONS } from '../api/operations/registry.ts';
import { callTool, type ToolContext } from './call-tool.ts';
import { uncheckedSchema, withTokenArgument } from './tool-schema.ts';

const IDEMPOTENT: ReadonlySet<string> = new Set(['task_update', 'merkle_finalize', 'merge_request']);
/** Operations whose effect outside Baton cannot be undone. */
const DESTRUCTIVE: ReadonlySet<string> = new Set(['merge_request']);

export function registerTools(server: McpServer, calling: ToolContext): void {
  for (const operation of toolOperations()) {
    const { name, about, schema } = operation;
    const inputSchema = uncheckedSchema<unknown>(calling.takesToken ? withTokenArgument(schema) : schema);
    const config = { title: titleOf(name), description: about, inputSchema, annotations: annotationsOf(operation) };
    server.registerTool(name, config, async (args, context) =>
      renderToolResult(await callTool(calling, operation, args, context)),
    );
  }
}

function toolOperations(): Operation[] {
  return [...OPERATIONS.values()].filter(({ tool }) => tool);
}

function annotationsOf({ name, kind }: Operation): ToolAnnotations {
  const reads = kind === 'read';
  return {
    readOnlyHint: reads,
    destructiveHint: DESTRUCTIVE.has(name),
    idempotentHint: reads || IDEMPOTENT.has(name),
    openWorldHint: false,
  };
}

function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** An error is a result too, so that the model reads it: the exact text first, then what to do next. */
function renderToolResult(answer: Answer): CallToolResult {
  if (answer.ok)
    return { content: [textContent(renderText(answer.result))], structuredContent: toStructured(answer.result) };
  const { code, message, hint } = answer.error;
  const content = hint === '' ? [textContent(message)] : [textContent(message), textContent(hint)];
  // The outbox keeps the call while the daemon is away. An error would make the model repeat it.
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
