import type { McpServer, ToolAnnotations } from '@modelcontextprotocol/server';
import { OPERATIONS } from '../api/operations/registry.ts';
import type { Operation } from '../api/operations/operation.ts';
import { callTool, type ToolContext } from './call-tool.ts';
import { withTokenArgument } from './tool-schema.ts';
import { renderToolResult } from './tool-result.ts';
import { uncheckedSchema } from './unchecked-schema.ts';

/** Operations that change nothing more when they are done a second time. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['task_update', 'merkle_finalize', 'merge_request']);

/** Operations whose effect outside of Baton's own books cannot be taken back. */
const DESTRUCTIVE: ReadonlySet<string> = new Set(['merge_request']);

/** One tool for each operation that models may have, under its own name. */
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

export function toolOperations(): Operation[] {
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
