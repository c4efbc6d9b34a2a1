import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { textBlock, type ToolCallParts, type ToolContent } from '../../../acp/messages.ts';
import type { ToolCall, ToolResult } from '../tools.ts';

/** A tool call before it runs, as ACP describes it: an edit with its diff. */
export function describeTool(
  toolCallId: string,
  tool: ToolCall,
  cwd: string,
): ToolCallParts & { readonly title: string } {
  if (tool.kind === 'execute')
    return { toolCallId, title: tool.command, kind: 'execute', rawInput: { command: tool.command } };
  if (tool.kind === 'baton') return { toolCallId, title: tool.tool, kind: 'other', rawInput: { ...tool.input } };
  const path = pathIn(cwd, tool.path);
  const place = { toolCallId, kind: tool.kind, locations: [{ path }], rawInput: { path } };
  if (tool.kind === 'read') return { ...place, title: `Read ${tool.path}` };
  const diff: ToolContent = { type: 'diff', path, oldText: findOldText(path), newText: tool.text };
  return { ...place, title: `Write ${tool.path}`, content: [diff] };
}

/** The update that ends the call. Its content replaces the earlier content, so an edit repeats its diff. */
export function describeResult({ toolCallId, content }: ToolCallParts, result: ToolResult): ToolCallParts {
  const status = result.isError ? 'failed' : 'completed';
  const printed: ToolContent[] = result.output === '' ? [] : [{ type: 'content', content: textBlock(result.output) }];
  return { toolCallId, status, content: [...(content ?? []), ...printed], rawOutput: { output: result.output } };
}

/** Keeps `..` in the path: a client must not rely on the agent to resolve it. */
export function pathIn(cwd: string, path: string): string {
  return isAbsolute(path) ? path : `${cwd}/${path}`;
}

function findOldText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
