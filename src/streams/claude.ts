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
  renderEpochSeconds,
  type StreamEvent,
  type TokenUsage,
  type UsageEvent,
} from './stream-event.ts';
import { addUsage } from './tally.ts';

/** Reads a line of `claude -p --output-format stream-json --verbose`. */
export function parseClaudeLine(line: string, at: number): readonly StreamEvent[] {
  const event = parseJsonFields(line);
  if (event === null) return [];
  // A subagent's words are a tool result for the agent; its usage counts.
  if (typeof event['parent_tool_use_id'] === 'string')
    return event['type'] === 'assistant' ? usageOfMessage(event) : [];
  switch (event['type']) {
    case 'system':
      return readSystem(event, at);
    case 'assistant':
      return readAssistant(event);
    case 'user':
      return asJsonFieldsList(asJsonFields(event['message'])['content']).flatMap(readResultOfTool);
    case 'control_request':
      return readControl(asJsonFields(event['request']));
    case 'result':
      return [createUsageEvent(event), { kind: 'turn-ended', failed: event['is_error'] === true }];
    default:
      return [];
  }
}

function readSystem(event: JsonFields, at: number): StreamEvent[] {
  switch (event['subtype']) {
    case 'init':
      return [
        { kind: 'conversation', id: asString(event['session_id']) },
        { kind: 'model', model: asString(event['model']) },
      ];
    case 'api_retry': {
      const resetAt = new Date(at + asNumber(event['retry_delay_ms'])).toISOString();
      return [{ ...createErrorEvent(event, asNumber(event['error_status'])), resetAt, isRetrying: true }];
    }
    case 'permission_denied':
      return [{ kind: 'permission', tool: asString(event['tool_name']), what: asString(event['message']) }];
    default:
      return [];
  }
}

/** The client reports an API error as a message; its text is not the agent's. */
function readAssistant(event: JsonFields): StreamEvent[] {
  if (typeof event['error'] === 'string') return [createErrorEvent(event, asNumber(event['api_error_status']))];
  return [...asJsonFieldsList(asJsonFields(event['message'])['content']).flatMap(readBlock), ...usageOfMessage(event)];
}

/** A message spans several lines, each with the usage at its start. */
function usageOfMessage(event: JsonFields): UsageEvent[] {
  const { id, usage } = asJsonFields(event['message']);
  const counted = asJsonFields(usage);
  if (usage === undefined || Object.values(counted).every((value) => !Number(value))) return [];
  return [{ kind: 'usage', of: 'message', id: asString(id), usage: parseClaudeUsage(counted) }];
}

function readBlock({ type, text, id, name }: JsonFields): StreamEvent[] {
  if (type === 'text') return [{ kind: 'words', text: `${asString(text)}\n` }];
  return type === 'tool_use' ? [{ kind: 'tool-started', id: asString(id), tool: asString(name) }] : [];
}

function readResultOfTool({ type, tool_use_id: id, is_error }: JsonFields): StreamEvent[] {
  return type === 'tool_result' ? [{ kind: 'tool-ended', id: asString(id), failed: is_error === true }] : [];
}

function readControl({ subtype, tool_name: tool, input }: JsonFields): StreamEvent[] {
  return subtype === 'can_use_tool' ? [{ kind: 'permission', tool: asString(tool), what: JSON.stringify(input) }] : [];
}

function createErrorEvent(event: JsonFields, status: number): AgentErrorEvent {
  const limit = asJsonFields(asJsonFields(event['api_error_params'])['rate_limit_info']);
  const words = asJsonFieldsList(asJsonFields(event['message'])['content']).map(({ text }) => asString(text));
  return {
    kind: 'error',
    error: kindOf(event, status),
    message: words.join('\n') || asString(event['error']),
    resetAt: renderEpochSeconds(limit['resetsAt']),
    isRetrying: false,
  };
}

function kindOf(event: JsonFields, status: number): AgentError | null {
  if (event['api_error'] === 'connection_failed') return 'no_internet';
  // `server_error` covers overload and failure, and a low balance has status 400, so the status decides.
  return CLAUDE_ERRORS.get(asString(event['error'])) ?? errorOfHttpStatus(status);
}

/** Codes in the stream and in the `StopFailure` hook. */
export const CLAUDE_ERRORS: ReadonlyMap<string, AgentError> = new Map([
  ['authentication_failed', 'unauthorized'],
  ['billing_error', 'out_of_credits'],
  ['rate_limit', 'rate_limited'],
]);

/** The usage of this turn over all models; older versions count only the conversation's model. */
function createUsageEvent(event: JsonFields): UsageEvent {
  const models = Object.values(asJsonFields(event['model_usage_since_last_result'])).map(asJsonFields);
  if (models.length > 0) return { kind: 'usage', of: 'turn', usage: models.map(usageOfModel).reduce(addUsage) };
  return { kind: 'usage', of: 'turn', usage: parseClaudeUsage(asJsonFields(event['usage'])) };
}

/** Parses the API's field names, used in the stream and in the client's record. */
function parseClaudeUsage(usage: JsonFields): TokenUsage {
  return {
    input: asNumber(usage['input_tokens']),
    output: asNumber(usage['output_tokens']),
    cacheRead: asNumber(usage['cache_read_input_tokens']),
    cacheWrite: asNumber(usage['cache_creation_input_tokens']),
    costMillicents: null,
  };
}

/** The usage of a message in the client's record of a conversation. */
export function claudeMessageUsage({ type, message }: JsonFields): UsageEvent[] {
  const { id, usage } = asJsonFields(message);
  if (type !== 'assistant' || usage === undefined) return [];
  return [{ kind: 'usage', of: 'message', id: asString(id), usage: parseClaudeUsage(asJsonFields(usage)) }];
}

function usageOfModel(model: JsonFields): TokenUsage {
  return {
    input: asNumber(model['inputTokens']),
    output: asNumber(model['outputTokens']),
    cacheRead: asNumber(model['cacheReadInputTokens']),
    cacheWrite: asNumber(model['cacheCreationInputTokens']),
    costMillicents: model['costUSD'] === undefined ? null : Math.round(asNumber(model['costUSD']) * 100_000),
  };
}
