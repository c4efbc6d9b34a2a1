import { type Fields, fieldsOf, objectsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { joinBlocks } from './claude.ts';
import { type Content, type ContentOfLine, NOTHING, type ReadContent, show } from './content.ts';
import { describeCall } from './describe-call.ts';

/** Extracts text, tools and results from lines of Codex. The reader remembers which calls it has shown. */
export function codexContentReader(): ReadContent {
  const started = new Set<string>();
  return (event) => {
    const item = fieldsOf(event['item']);
    const id = textOf(item['id']);
    switch (event['type']) {
      case 'item.started':
        started.add(id);
        return readCall(item);
      case 'item.updated':
        return item['type'] === 'todo_list' ? readCall(item) : NOTHING;
      case 'item.completed':
        return readCompleted(item, started.delete(id));
      case 'error':
        return show({ kind: 'problem', text: textOf(event['message']) });
      default:
        return SILENT.has(textOf(event['type'])) ? NOTHING : null;
    }
  };
}

/** `StreamEvent`s cover these lines. */
const SILENT: ReadonlySet<string> = new Set(['thread.started', 'turn.started', 'turn.completed', 'turn.failed']);

function readCall(item: Fields): ContentOfLine {
  return show(...callsOf(item));
}

function callsOf(item: Fields): Content[] {
  const call = (tool: string, what: string): Content => ({ kind: 'tool', tool, what });
  switch (item['type']) {
    case 'command_execution':
      return [call('shell', unwrapShell(textOf(item['command'])))];
    case 'file_change':
      return objectsOf(item['changes']).map(({ path, kind }) => call(textOf(kind) || 'change', textOf(path)));
    case 'mcp_tool_call':
      return [call(`${textOf(item['server'])}/${textOf(item['tool'])}`, describeCall(fieldsOf(item['arguments'])))];
    case 'web_search':
      return [call('web_search', textOf(item['query']))];
    case 'todo_list': {
      const items = objectsOf(item['items']);
      const next = items.find(({ completed }) => completed !== true);
      const done = items.filter(({ completed }) => completed === true).length;
      return [call('plan', `${done}/${items.length} ${textOf(next?.['text'])}`.trimEnd())];
    }
    default:
      return [];
  }
}

function readCompleted(item: Fields, isShown: boolean): ContentOfLine | null {
  const type = textOf(item['type']);
  if (type === 'agent_message') return show({ kind: 'text', text: textOf(item['text']) });
  if (type === 'reasoning') return show({ kind: 'thinking', text: textOf(item['text']) });
  // An item of this type is a warning.
  if (type === 'error') return show({ kind: 'note', text: textOf(item['message']) });
  const calls = callsOf(item);
  if (calls.length === 0 && !KNOWN.has(type)) return null;
  return show(...(isShown ? [] : calls), ...resultOf(item));
}

const KNOWN: ReadonlySet<string> = new Set(['command_execution', 'file_change', 'mcp_tool_call', 'web_search']);

function resultOf(item: Fields): Content[] {
  const failed = item['status'] !== undefined && item['status'] !== 'completed';
  if (item['type'] === 'command_execution') {
    const code = item['exit_code'];
    const head = failed && typeof code === 'number' ? `exit code ${code}\n` : '';
    return [{ kind: 'result', text: `${head}${textOf(item['aggregated_output'])}`, failed }];
  }
  const error = textOf(fieldsOf(item['error'])['message']);
  const said = joinBlocks(fieldsOf(item['result'])['content']);
  if (error === '' && said === '' && !failed) return [];
  return [{ kind: 'result', text: error || said || textOf(item['status']), failed: failed || error !== '' }];
}

/** Codex runs each command as `/bin/sh -lc 'COMMAND'`; this returns the command. */
function unwrapShell(command: string): string {
  const [, quoted] = /^\S*sh -l?c '((?:[^']|'\\'')*)'$/s.exec(command) ?? [];
  if (quoted !== undefined) return quoted.replaceAll(`'\\''`, `'`);
  const [, double] = /^\S*sh -l?c "([^"\\$`]*)"$/s.exec(command) ?? [];
  return double ?? /^\S*sh -l?c (\S+)$/.exec(command)?.[1] ?? command;
}
