import { asJsonFields, asNumber, parseJsonFields, asString, type JsonFields } from './fields.ts';
import type { StreamEvent, UsageEvent } from './stream-event.ts';

/** Reads a line of `codex exec --json`. Why a turn failed it says in prose; the kind of an error is in its rollout (`codex-rollout.ts`). */
export function parseCodexLine(line: string): readonly StreamEvent[] {
  const said = parseJsonFields(line);
  switch (said?.['type']) {
    case 'thread.started':
      return [{ kind: 'conversation', id: asString(said['thread_id']) }];
    case 'item.started':
      return readStarted(asJsonFields(said['item']));
    case 'item.completed':
      return readCompleted(asJsonFields(said['item']));
    case 'turn.completed':
      return [parseCodexUsage(asJsonFields(said['usage'])), { kind: 'turn-ended', failed: false }];
    case 'turn.failed':
      return [createErrorEvent(asJsonFields(said['error'])), { kind: 'turn-ended', failed: true }];
    default:
      // A line of type `error` is a try that failed, or is followed by `turn.failed`.
      return [];
  }
}

function readStarted(item: JsonFields): StreamEvent[] {
  const tool = toolOf(item);
  return tool === null ? [] : [{ kind: 'tool-started', id: asString(item['id']), tool }];
}

function readCompleted(item: JsonFields): StreamEvent[] {
  if (item['type'] === 'agent_message') return [{ kind: 'words', text: `${asString(item['text'])}\n` }];
  return toolOf(item) === null
    ? []
    : [{ kind: 'tool-ended', id: asString(item['id']), failed: item['status'] !== 'completed' }];
}

/** Items of type `error` are warnings of the client, `reasoning` and `todo_list` are no tools. */
function toolOf({ type, server, tool }: JsonFields): string | null {
  if (type === 'mcp_tool_call') return `mcp__${asString(server)}__${asString(tool)}`;
  return type === 'command_execution' || type === 'file_change' || type === 'web_search' ? type : null;
}

/** The count goes on over the whole conversation, resumes included. */
export function parseCodexUsage(usage: JsonFields): UsageEvent {
  const cacheRead = asNumber(usage['cached_input_tokens']);
  const cacheWrite = asNumber(usage['cache_write_input_tokens']);
  const input = asNumber(usage['input_tokens']) - cacheRead - cacheWrite;
  const output = asNumber(usage['output_tokens']);
  return { kind: 'usage', of: 'conversation', usage: { input, output, cacheRead, cacheWrite, costMillicents: null } };
}

function createErrorEvent({ message }: JsonFields): StreamEvent {
  return { kind: 'error', error: null, message: asString(message), resetAt: null, isRetrying: false };
}
