import type { AgentError } from '../protocol/run-plan.ts';
import {
  type AgentErrorEvent,
  asJsonFields,
  asJsonFieldsList,
  asNumber,
  asString,
  errorOfHttpStatus,
  type JsonFields,
  parseJsonFields,
  type StreamEvent,
  type UsageEvent,
} from './stream-event.ts';

/** Reads a line of `gemini --output-format stream-json`. A process has one turn. */
export function parseGeminiLine(line: string): readonly StreamEvent[] {
  const event = parseJsonFields(line);
  switch (event?.['type']) {
    case 'init':
      return [
        { kind: 'conversation', id: asString(event['session_id']) },
        { kind: 'model', model: asString(event['model']) },
      ];
    case 'message':
      return event['role'] === 'assistant' ? [{ kind: 'words', text: textOfMessage(event) }] : [];
    case 'tool_use':
      return [{ kind: 'tool-started', id: asString(event['tool_id']), tool: asString(event['tool_name']) }];
    case 'tool_result':
      return [{ kind: 'tool-ended', id: asString(event['tool_id']), failed: event['status'] !== 'success' }];
    case 'result':
      return readResult(event);
    default:
      // Lines of type `error` are warnings, for example that Baton's hook blocked.
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

function textOfMessage({ content, delta }: JsonFields): string {
  return delta === true ? asString(content) : `${asString(content)}\n`;
}

function readResult(event: JsonFields): StreamEvent[] {
  const failed = event['status'] !== 'success';
  const message = asString(asJsonFields(event['error'])['message']);
  const error: StreamEvent[] = failed
    ? [{ kind: 'error', error: kindOf(message), message, resetAt: null, isRetrying: false }]
    : [];
  return [createUsageEvent(asJsonFields(event['stats'])), ...error, { kind: 'turn-ended', failed }];
}

/** The client wraps most API errors unchanged in its own sentence. */
function kindOf(message: string): AgentError | null {
  if (message === CUT_OFF) return 'no_internet';
  const error = asJsonFields(parseJsonFields(/^\[API Error: (\{.*\})\]$/s.exec(message)?.[1] ?? '')?.['error']);
  if (asJsonFieldsList(error['details']).some(({ reason }) => reason === 'API_KEY_INVALID')) return 'unauthorized';
  return errorOfHttpStatus(asNumber(error['code']));
}

const CUT_OFF = '[API Error: exception TypeError: fetch failed sending request]';

function createUsageEvent(stats: JsonFields): UsageEvent {
  const cacheRead = asNumber(stats['cached']);
  const input = asNumber(stats['input_tokens']) - cacheRead;
  const output = asNumber(stats['output_tokens']);
  return { kind: 'usage', of: 'turn', usage: { input, output, cacheRead, cacheWrite: 0, costMillicents: null } };
}

/** The usage of a message in the client's record of a conversation. Thoughts are billed as output. */
export function geminiMessageUsage({ id, type, tokens }: JsonFields): UsageEvent[] {
  if (type !== 'gemini' || tokens === undefined) return [];
  const counts = asJsonFields(tokens);
  const cacheRead = asNumber(counts['cached']);
  const input = asNumber(counts['input']) - cacheRead;
  const output = asNumber(counts['output']) + asNumber(counts['thoughts']);
  const usage = { input, output, cacheRead, cacheWrite: 0, costMillicents: null };
  return [{ kind: 'usage', of: 'message', id: asString(id), usage }];
}
