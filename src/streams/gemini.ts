import type { AgentError } from '../protocol/run-plan.ts';
import { type Fields, fieldsOf, numberOf, objectsOf, textOf } from '../protocol/shape/read-unknown.ts';
import {
  type AgentErrorEvent,
  errorOfHttpStatus,
  parseJsonFields,
  type StreamEvent,
  type TokenUsage,
  type UsageEvent,
} from './stream-event.ts';

/** Reads a line of `gemini --output-format stream-json`. A process has one turn. */
export function parseGeminiLine(line: string): readonly StreamEvent[] {
  const said = parseJsonFields(line);
  switch (said?.['type']) {
    case 'init':
      return [
        { kind: 'conversation', id: textOf(said['session_id']) },
        { kind: 'model', model: textOf(said['model']) },
      ];
    case 'message':
      return said['role'] === 'assistant' ? [{ kind: 'words', text: textOfMessage(said) }] : [];
    case 'tool_use':
      return [{ kind: 'tool-started', id: textOf(said['tool_id']), tool: textOf(said['tool_name']) }];
    case 'tool_result':
      return [{ kind: 'tool-ended', id: textOf(said['tool_id']), failed: said['status'] !== 'success' }];
    case 'result':
      return readResult(said);
    default:
      // Lines of type `error` are warnings, a block of our own hook among them.
      return [];
  }
}

/**
 * Gemini CLI says why a turn failed in prose, but its exit code is the HTTP status, of which a process keeps eight bits. What it
 * suggests to wait is a sentence of its own.
 */
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

function readResult(said: Fields): StreamEvent[] {
  const failed = said['status'] !== 'success';
  const message = textOf(fieldsOf(said['error'])['message']);
  const error: StreamEvent[] = failed
    ? [{ kind: 'error', error: kindOf(message), message, resetAt: null, isRetrying: false }]
    : [];
  return [createUsageEvent(fieldsOf(said['stats'])), ...error, { kind: 'turn-ended', failed }];
}

/** Most errors of the API are passed on whole, inside a sentence of the client. */
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

/** In the words of its own record of a conversation. What the model thought is paid for as output. */
export function parseGeminiUsage(tokens: Fields): TokenUsage {
  const cacheRead = numberOf(tokens['cached']);
  const input = numberOf(tokens['input']) - cacheRead;
  const output = numberOf(tokens['output']) + numberOf(tokens['thoughts']);
  return { input, output, cacheRead, cacheWrite: 0, costMillicents: null };
}
