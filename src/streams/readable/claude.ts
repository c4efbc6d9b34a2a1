import { type Fields, fieldsOf, objectsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { type Content, type ContentOfLine, NOTHING, show } from './content.ts';
import { describeCall, renderToolName } from './describe-call.ts';

/** Extracts text, tools and results from a line of Claude Code or the scripted agent. */
export function readClaudeContent(event: Fields): ContentOfLine | null {
  const { type, message } = event;
  const isNested = typeof event['parent_tool_use_id'] === 'string';
  switch (type) {
    case 'system':
      return readSystem(event);
    case 'assistant':
      // An API error is an event, and its text is not the agent's.
      if (typeof event['error'] === 'string') return NOTHING;
      return { content: objectsOf(fieldsOf(message)['content']).flatMap(readBlock), isNested };
    case 'user':
      return { content: readInput(fieldsOf(message)['content']), isNested };
    default:
      return SILENT.has(textOf(type)) ? NOTHING : null;
  }
}

/** Lines that only repeat others: the end of a turn, parts of a message, progress of a tool. */
const SILENT: ReadonlySet<string> = new Set([
  'result',
  'stream_event',
  'rate_limit_event',
  'tool_progress',
  'control_request',
  'control_response',
  'control_cancel_request',
  'keep_alive',
]);

function readSystem(event: Fields): ContentOfLine {
  const subtype = textOf(event['subtype']);
  // `StreamEvent`s cover these lines.
  if (subtype === 'init' || subtype === 'api_retry' || subtype === 'permission_denied') return NOTHING;
  const said = ['text', 'message', 'summary', 'description', 'status', 'content']
    .map((name) => textOf(event[name]))
    .find((text) => text !== '');
  return show({ kind: 'note', text: said === undefined ? subtype : `${subtype}: ${said}` });
}

function readBlock({ type, text, thinking, name, input }: Fields): Content[] {
  switch (type) {
    case 'text':
      return [{ kind: 'text', text: textOf(text) }];
    case 'thinking':
      return [{ kind: 'thinking', text: textOf(thinking) }];
    case 'redacted_thinking':
      return [];
    case 'tool_use':
    case 'server_tool_use':
      return [{ kind: 'tool', tool: renderToolName(textOf(name)), what: describeCall(fieldsOf(input)) }];
    default:
      return [{ kind: 'note', text: `[${textOf(type)}]` }];
  }
}

function readInput(content: unknown): Content[] {
  if (typeof content === 'string') return [{ kind: 'input', text: content }];
  return objectsOf(content).flatMap((block): Content[] => {
    if (block['type'] === 'tool_result')
      return [{ kind: 'result', text: joinBlocks(block['content']), failed: block['is_error'] === true }];
    return [{ kind: 'input', text: textOfBlock(block) }];
  });
}

/** Joins the text of a result, which is a text or a list of blocks. */
export function joinBlocks(content: unknown): string {
  return typeof content === 'string' ? content : objectsOf(content).map(textOfBlock).join('\n');
}

function textOfBlock({ type, text }: Fields): string {
  return typeof text === 'string' ? text : `[${textOf(type)}]`;
}
