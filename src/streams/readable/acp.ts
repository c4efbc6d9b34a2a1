import { type Fields, fieldsOf, objectsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { TOOL_NAMES } from '../../acp/messages.ts';
import { type Content, type ContentOfLine, NOTHING, type ReadContent, show } from './content.ts';
import { describeCall, renderToolName } from './describe-call.ts';

/**
 * Extracts text, plans, tools, diffs and results from a line of the driver of ACP agents. Tools have the names of other
 * clients' tools.
 */
export function acpContentReader(): ReadContent {
  /**
   * Tools by the id of their call, for calls that were shown only with their title: agents often name the command or
   * file in an update.
   */
  const vague = new Map<string, string>();
  return (event) => {
    switch (event['type']) {
      case 'session':
        return event['resumable'] === true ? NOTHING : show({ kind: 'note', text: describeAgent(event) });
      case 'prompt':
        return show({ kind: 'input', text: textOf(event['text']) });
      case 'note':
        return show({ kind: 'note', text: textOf(event['text']) });
      case 'update':
        return readUpdate(fieldsOf(event['update']), vague);
      case 'permission':
        return event['outcome'] === 'denied'
          ? show({ kind: 'problem', text: `denied: ${textOf(event['tool'])}  ${textOf(event['what'])}` })
          : NOTHING;
      default:
        // `StreamEvent`s cover these lines.
        return EVENTS.has(textOf(event['type'])) ? NOTHING : null;
    }
  };
}

const EVENTS: ReadonlySet<string> = new Set(['usage', 'model', 'error', 'activity', 'end']);

function describeAgent({ agent, version, model }: Fields): string {
  return [`${textOf(agent)} ${textOf(version)}`.trim(), textOf(model)].filter(Boolean).join(', ');
}

function readUpdate(update: Fields, vague: Map<string, string>): ContentOfLine {
  const text = textOf(fieldsOf(update['content'])['text']);
  switch (update['sessionUpdate']) {
    case 'agent_message_chunk':
      return show({ kind: 'text', text, isPiece: true });
    case 'agent_thought_chunk':
      return show({ kind: 'thinking', text });
    case 'tool_call':
    case 'tool_call_update':
      return show(...readTool(update, vague));
    case 'plan':
      return show({ kind: 'note', text: `plan:\n${objectsOf(update['entries']).map(describeStep).join('\n')}` });
    case 'current_mode_update':
      return show({ kind: 'note', text: `mode: ${textOf(update['currentModeId'])}` });
    default:
      return NOTHING;
  }
}

function describeStep({ content, status }: Fields): string {
  const mark = status === 'completed' ? '✓' : status === 'in_progress' ? '▸' : '·';
  return `${mark} ${textOf(content)}`;
}

function readTool(update: Fields, vague: Map<string, string>): Content[] {
  const id = textOf(update['toolCallId']);
  const { tool: named, subject, title } = describeTool(update);
  const tool = named || (vague.get(id) ?? '');
  const isFirst = update['sessionUpdate'] === 'tool_call';
  const isShown = isFirst || (subject !== '' && vague.delete(id));
  if (isFirst && subject === '') vague.set(id, tool);
  const what = subject || (title === tool ? '' : title);
  const { status } = update;
  const result: Content[] =
    status === 'completed' || status === 'failed'
      ? [{ kind: 'result', text: readResult(update), failed: status === 'failed' }]
      : [];
  return [...(isShown ? [{ kind: 'tool', tool, what } as const] : []), ...result];
}

/** Names the command, or the file with the lines added and removed; the title if the agent gives neither. */
function describeTool(update: Fields): Readonly<Record<'tool' | 'subject' | 'title', string>> {
  const title = textOf(update['title']);
  const tool = TOOL_NAMES.get(textOf(update['kind']));
  const diffs = objectsOf(update['content']).filter(({ type }) => type === 'diff');
  const edits = diffs.map(({ oldText, newText }) => ({ old_string: textOf(oldText), new_string: textOf(newText) }));
  const [first] = diffs;
  const subject =
    first === undefined
      ? describeCall(fieldsOf(update['rawInput']))
      : describeCall({ file_path: textOf(first['path']), edits });
  return { tool: tool ?? renderToolName(title), subject, title };
}

function readResult({ content, rawOutput }: Fields): string {
  const texts = objectsOf(content).map(({ content: block }) => textOf(fieldsOf(block)['text']));
  const text = texts.filter(Boolean).join('\n');
  if (text !== '' || rawOutput === undefined) return text;
  const { output, formatted_output: formatted } = fieldsOf(rawOutput);
  return typeof rawOutput === 'string' ? rawOutput : textOf(output) || textOf(formatted);
}
