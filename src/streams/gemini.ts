import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { AgentError } from '../protocol/run-plan.ts';
import { type Fields, fieldsOf, numberOf, objectsOf, textOf } from '../protocol/shape/read-unknown.ts';
import { type ClientStream, findOnlyConversation, findRecords, sumMessages } from './client-stream.ts';
import { filesBelow } from './file-lines.ts';
import {
  batonCall,
  type AgentErrorEvent,
  errorOfHttpStatus,
  parseJsonFields,
  type StreamEvent,
  type UsageEvent,
} from './stream-event.ts';

export const geminiStream: ClientStream = {
  recordsIn: (env) => join(env['GEMINI_CLI_HOME'] ?? env['HOME'] ?? homedir(), '.gemini'),
  readLine: parseGeminiLine,
  readEnd: ({ code, error, at }) => {
    const event = code === null || error === null ? null : findGeminiExitError(code, error, at);
    return event === null ? [] : [event];
  },
  readTranscript: (excerpt) => {
    const files = `tmp/*/chats/*${excerpt.conversation.slice(0, 8)}*.jsonl`;
    return sumMessages(excerpt, findRecords(excerpt.folder, files), usageOfRecordedMessage);
  },
  // Each agent has its own home, so the folders need no comparison.
  findConversation: (start) =>
    findOnlyConversation(start, findRecords(start.folder, 'tmp/*/chats/*.jsonl'), ([first]) =>
      textOf(first?.['sessionId']),
    ),
  record: {
    // Subagents have files in a folder named after the conversation.
    filesOf: ({ path, conversation }) => [path, ...filesBelow(join(dirname(path), basename(conversation)))],
    readLine: (line, _, since) => (textOf(line['timestamp']) < since ? [] : usageOfRecordedMessage(line)),
    modelIn: ({ model }) => textOf(model),
    isUncounted: () => false,
  },
  denyTool: (reason) => ({
    answer: { continue: false, stopReason: reason, decision: 'deny', reason },
    endsProcess: false,
  }),
};

/** Parses a line of `gemini --output-format stream-json`. A process has one turn. */
export function parseGeminiLine(line: string): readonly StreamEvent[] {
  const event = parseJsonFields(line);
  switch (event?.['type']) {
    case 'init':
      return [
        { kind: 'conversation', id: textOf(event['session_id']) },
        { kind: 'model', model: textOf(event['model']) },
      ];
    case 'message':
      return event['role'] === 'assistant' ? [{ kind: 'words', text: textOfMessage(event) }] : [];
    case 'tool_use':
      return [
        {
          kind: 'tool-started',
          id: textOf(event['tool_id']),
          tool: textOf(event['tool_name']),
          ...batonCall('mcp_baton_', event['tool_name'], event['parameters']),
        },
      ];
    case 'tool_result':
      return [{ kind: 'tool-ended', id: textOf(event['tool_id']), failed: event['status'] !== 'success' }];
    case 'result':
      return readResult(event);
    default:
      // Lines of type `error` are warnings, for example that Baton's hook has blocked.
      return [];
  }
}

/** Derives the error from the exit code, which is the lowest eight bits of the HTTP status. */
export function findGeminiExitError(code: number, message: string, at: number): AgentErrorEvent | null {
  const status = STATUSES.find((each) => each % 256 === code);
  if (status === undefined) return null;
  const seconds = /\nSuggested retry after (\d+(?:\.\d+)?)s\.\]/.exec(message)?.[1];
  const resetAt = seconds === undefined ? null : new Date(at + Number(seconds) * 1000).toISOString();
  return { kind: 'error', error: errorOfHttpStatus(status), message, resetAt, isRetrying: false };
}

const STATUSES = [400, 401, 402, 403, 404, 429, 500, 502, 503, 504];

function textOfMessage({ content, delta }: Fields): string {
  return delta === true ? textOf(content) : `${textOf(content)}\n`;
}

function readResult(event: Fields): StreamEvent[] {
  const failed = event['status'] !== 'success';
  const message = textOf(fieldsOf(event['error'])['message']);
  const error: StreamEvent[] = failed
    ? [{ kind: 'error', error: kindOf(message), message, resetAt: null, isRetrying: false }]
    : [];
  return [createUsageEvent(fieldsOf(event['stats'])), ...error, { kind: 'turn-ended', failed }];
}

/** Finds the kind of an API error, which the client usually wraps unchanged in its own sentence. */
function kindOf(message: string): AgentError | null {
  if (message === CUT_OFF) return 'no_internet';
  const error = fieldsOf(parseJsonFields(/^\[API Error: (\{.*\})\]$/s.exec(message)?.[1] ?? '')?.['error']);
  if (objectsOf(error['details']).some(({ reason }) => reason === 'API_KEY_INVALID')) return 'unauthorized';
  return errorOfHttpStatus(numberOf(error['code']));
}

const CUT_OFF = '[API Error: exception TypeError: fetch failed sending request]';

function createUsageEvent(stats: Fields): UsageEvent {
  const cacheRead = numberOf(stats['cached']);
  const input = numberOf(stats['input_tokens']) - cacheRead;
  const output = numberOf(stats['output_tokens']);
  return { kind: 'usage', of: 'turn', usage: { input, output, cacheRead, cacheWrite: 0, costMillicents: null } };
}

/** The usage of a message in the client's record. Thoughts are billed as output. */
function usageOfRecordedMessage({ id, type, tokens }: Fields): UsageEvent[] {
  if (type !== 'gemini' || tokens === undefined) return [];
  const counts = fieldsOf(tokens);
  const cacheRead = numberOf(counts['cached']);
  const input = numberOf(counts['input']) - cacheRead;
  const output = numberOf(counts['output']) + numberOf(counts['thoughts']);
  const usage = { input, output, cacheRead, cacheWrite: 0, costMillicents: null };
  return [{ kind: 'usage', of: 'message', id: textOf(id), usage }];
}
