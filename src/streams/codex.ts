import { fieldsOf, numberOf, parseFields, textOf, type Fields } from './fields.ts';
import type { Said, UsageSaid } from './said.ts';

/** Reads a line of `codex exec --json`. Why a turn failed it says in prose; the kind of an error is in its rollout (`codex-rollout.ts`). */
export function readCodexLine(line: string): readonly Said[] {
  const said = parseFields(line);
  switch (said?.['type']) {
    case 'thread.started':
      return [{ kind: 'conversation', id: textOf(said['thread_id']) }];
    case 'item.started':
      return readStarted(fieldsOf(said['item']));
    case 'item.completed':
      return readCompleted(fieldsOf(said['item']));
    case 'turn.completed':
      return [codexUsage(fieldsOf(said['usage'])), { kind: 'turn-ended', failed: false }];
    case 'turn.failed':
      return [failureSaid(fieldsOf(said['error'])), { kind: 'turn-ended', failed: true }];
    default:
      // A line of type `error` is a try that failed, or is followed by `turn.failed`.
      return [];
  }
}

function readStarted(item: Fields): Said[] {
  const tool = toolOf(item);
  return tool === null ? [] : [{ kind: 'tool-started', id: textOf(item['id']), tool }];
}

function readCompleted(item: Fields): Said[] {
  if (item['type'] === 'agent_message') return [{ kind: 'words', text: `${textOf(item['text'])}\n` }];
  return toolOf(item) === null
    ? []
    : [{ kind: 'tool-ended', id: textOf(item['id']), failed: item['status'] !== 'completed' }];
}

/** Items of type `error` are warnings of the client, `reasoning` and `todo_list` are no tools. */
function toolOf({ type, server, tool }: Fields): string | null {
  if (type === 'mcp_tool_call') return `mcp__${textOf(server)}__${textOf(tool)}`;
  return type === 'command_execution' || type === 'file_change' || type === 'web_search' ? type : null;
}

/** The count goes on over the whole conversation, resumes included. */
export function codexUsage(usage: Fields): UsageSaid {
  const cacheRead = numberOf(usage['cached_input_tokens']);
  const cacheWrite = numberOf(usage['cache_write_input_tokens']);
  const input = numberOf(usage['input_tokens']) - cacheRead - cacheWrite;
  const output = numberOf(usage['output_tokens']);
  return { kind: 'usage', of: 'conversation', usage: { input, output, cacheRead, cacheWrite, costMillicents: null } };
}

function failureSaid({ message }: Fields): Said {
  return { kind: 'error', error: null, message: textOf(message), resetAt: null, isRetrying: false };
}
