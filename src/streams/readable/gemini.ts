import { type Fields, fieldsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { type ContentOfLine, NOTHING, show } from './content.ts';
import { describeCall, renderToolName } from './describe-call.ts';

/** Extracts text, tools and results from a line of Gemini CLI. */
export function readGeminiContent(event: Fields): ContentOfLine | null {
  switch (event['type']) {
    case 'message': {
      const text = textOf(event['content']);
      if (event['role'] !== 'assistant') return show({ kind: 'input', text });
      return show({ kind: 'text', text, ...(event['delta'] === true ? { isPiece: true } : {}) });
    }
    case 'tool_use': {
      const tool = renderToolName(textOf(event['tool_name']));
      return show({ kind: 'tool', tool, what: describeCall(fieldsOf(event['parameters'])) });
    }
    case 'tool_result': {
      const failed = event['status'] !== 'success';
      const error = textOf(fieldsOf(event['error'])['message']);
      return show({ kind: 'result', text: textOf(event['output']) || error, failed });
    }
    case 'error':
      // For example, Baton's hook has blocked.
      return show({ kind: 'note', text: `${textOf(event['severity']) || 'error'}: ${textOf(event['message'])}` });
    default:
      // `StreamEvent`s cover these lines.
      return event['type'] === 'init' || event['type'] === 'result' ? NOTHING : null;
  }
}
