import type { AgentError } from '../protocol/run-plan.ts';
import { type Fields, fieldsOf, numberOf, objectsOf, textOf } from '../protocol/shape/read-unknown.ts';
import {
  type AgentErrorEvent,
  errorOfHttpStatus,
  parseJsonFields,
  renderEpochSeconds,
  type StreamEvent,
  type TokenUsage,
  type UsageEvent,
} from './stream-event.ts';
import { addUsage } from './tally.ts';

/** Reads a line of `claude -p --output-format stream-json --verbose`. */
export function parseClaudeLine(line: string, at: number): readonly StreamEvent[] {
  const said = parseJsonFields(line);
  if (said === null) return [];
  // What a subagent says is a tool's result to the agent itself; what it uses counts.
  if (typeof said['parent_tool_use_id'] === 'string') return said['type'] === 'assistant' ? usageOfMessage(said) : [];
  switch (said['type']) {
    case 'system':
      return readSystem(said, at);
    case 'assistant':
      return readAssistant(said);
    case 'user':
      return objectsOf(fieldsOf(said['message'])['content']).flatMap(readResultOfTool);
    case 'control_request':
      return readControl(fieldsOf(said['request']));
    case 'result':
      return [createUsageEvent(said), { kind: 'turn-ended', failed: said['is_error'] === true }];
    default:
      return [];
  }
}

function readSystem(said: Fields, at: number): StreamEvent[] {
  switch (said['subtype']) {
    case 'init':
      return [
        { kind: 'conversation', id: textOf(said['session_id']) },
        { kind: 'model', model: textOf(said['model']) },
      ];
    case 'api_retry': {
      const resetAt = new Date(at + numberOf(said['retry_delay_ms'])).toISOString();
      return [{ ...createErrorEvent(said, numberOf(said['error_status'])), resetAt, isRetrying: true }];
    }
    case 'permission_denied':
      return [{ kind: 'permission', tool: textOf(said['tool_name']), what: textOf(said['message']) }];
    default:
      return [];
  }
}

/** An API error comes as a message that the client itself wrote. Its words are not the agent's. */
function readAssistant(said: Fields): StreamEvent[] {
  if (typeof said['error'] === 'string') return [createErrorEvent(said, numberOf(said['api_error_status']))];
  return [...objectsOf(fieldsOf(said['message'])['content']).flatMap(readBlock), ...usageOfMessage(said)];
}

/** A message comes in several lines, each of which tells what it has used when it began. */
function usageOfMessage(said: Fields): UsageEvent[] {
  const { id, usage } = fieldsOf(said['message']);
  const counted = fieldsOf(usage);
  if (usage === undefined || Object.values(counted).every((value) => !Number(value))) return [];
  return [{ kind: 'usage', of: 'message', id: textOf(id), usage: parseClaudeUsage(counted) }];
}

function readBlock({ type, text, id, name }: Fields): StreamEvent[] {
  if (type === 'text') return [{ kind: 'words', text: `${textOf(text)}\n` }];
  return type === 'tool_use' ? [{ kind: 'tool-started', id: textOf(id), tool: textOf(name) }] : [];
}

function readResultOfTool({ type, tool_use_id: id, is_error }: Fields): StreamEvent[] {
  return type === 'tool_result' ? [{ kind: 'tool-ended', id: textOf(id), failed: is_error === true }] : [];
}

function readControl({ subtype, tool_name: tool, input }: Fields): StreamEvent[] {
  return subtype === 'can_use_tool' ? [{ kind: 'permission', tool: textOf(tool), what: JSON.stringify(input) }] : [];
}

function createErrorEvent(said: Fields, status: number): AgentErrorEvent {
  const limit = fieldsOf(fieldsOf(said['api_error_params'])['rate_limit_info']);
  const words = objectsOf(fieldsOf(said['message'])['content']).map(({ text }) => textOf(text));
  return {
    kind: 'error',
    error: kindOf(said, status),
    message: words.join('\n') || textOf(said['error']),
    resetAt: renderEpochSeconds(limit['resetsAt']),
    isRetrying: false,
  };
}

function kindOf(said: Fields, status: number): AgentError | null {
  if (said['api_error'] === 'connection_failed') return 'no_internet';
  // Its own `server_error` covers an overloaded server and a broken one, and a balance that is too low has status 400.
  return CLAUDE_ERRORS.get(textOf(said['error'])) ?? errorOfHttpStatus(status);
}

/** Its codes, in its stream and at its `StopFailure` hook. */
export const CLAUDE_ERRORS: ReadonlyMap<string, AgentError> = new Map([
  ['authentication_failed', 'unauthorized'],
  ['billing_error', 'out_of_credits'],
  ['rate_limit', 'rate_limited'],
]);

/** Of this turn, over all models; older versions count only the conversation's own. */
function createUsageEvent(said: Fields): UsageEvent {
  const models = Object.values(fieldsOf(said['model_usage_since_last_result'])).map(fieldsOf);
  if (models.length > 0) return { kind: 'usage', of: 'turn', usage: models.map(usageOfModel).reduce(addUsage) };
  return { kind: 'usage', of: 'turn', usage: parseClaudeUsage(fieldsOf(said['usage'])) };
}

/** In the words of its API, in its stream and in its own record of a conversation. */
export function parseClaudeUsage(usage: Fields): TokenUsage {
  return {
    input: numberOf(usage['input_tokens']),
    output: numberOf(usage['output_tokens']),
    cacheRead: numberOf(usage['cache_read_input_tokens']),
    cacheWrite: numberOf(usage['cache_creation_input_tokens']),
    costMillicents: null,
  };
}

function usageOfModel(model: Fields): TokenUsage {
  return {
    input: numberOf(model['inputTokens']),
    output: numberOf(model['outputTokens']),
    cacheRead: numberOf(model['cacheReadInputTokens']),
    cacheWrite: numberOf(model['cacheCreationInputTokens']),
    costMillicents: model['costUSD'] === undefined ? null : Math.round(numberOf(model['costUSD']) * 100_000),
  };
}
