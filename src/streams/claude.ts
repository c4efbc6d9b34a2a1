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
      return asJsonFieldsList(asJsonFields(said['message'])['content']).flatMap(readResultOfTool);
    case 'control_request':
      return readControl(asJsonFields(said['request']));
    case 'result':
      return [createUsageEvent(said), { kind: 'turn-ended', failed: said['is_error'] === true }];
    default:
      return [];
  }
}

function readSystem(said: JsonFields, at: number): StreamEvent[] {
  switch (said['subtype']) {
    case 'init':
      return [
        { kind: 'conversation', id: asString(said['session_id']) },
        { kind: 'model', model: asString(said['model']) },
      ];
    case 'api_retry': {
      const resetAt = new Date(at + asNumber(said['retry_delay_ms'])).toISOString();
      return [{ ...createErrorEvent(said, asNumber(said['error_status'])), resetAt, isRetrying: true }];
    }
    case 'permission_denied':
      return [{ kind: 'permission', tool: asString(said['tool_name']), what: asString(said['message']) }];
    default:
      return [];
  }
}

/** An API error comes as a message that the client itself wrote. Its words are not the agent's. */
function readAssistant(said: JsonFields): StreamEvent[] {
  if (typeof said['error'] === 'string') return [createErrorEvent(said, asNumber(said['api_error_status']))];
  return [...asJsonFieldsList(asJsonFields(said['message'])['content']).flatMap(readBlock), ...usageOfMessage(said)];
}

/** A message comes in several lines, each of which tells what it has used when it began. */
function usageOfMessage(said: JsonFields): UsageEvent[] {
  const { id, usage } = asJsonFields(said['message']);
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

function createErrorEvent(said: JsonFields, status: number): AgentErrorEvent {
  const limit = asJsonFields(asJsonFields(said['api_error_params'])['rate_limit_info']);
  const words = asJsonFieldsList(asJsonFields(said['message'])['content']).map(({ text }) => asString(text));
  return {
    kind: 'error',
    error: kindOf(said, status),
    message: words.join('\n') || asString(said['error']),
    resetAt: renderEpochSeconds(limit['resetsAt']),
    isRetrying: false,
  };
}

function kindOf(said: JsonFields, status: number): AgentError | null {
  if (said['api_error'] === 'connection_failed') return 'no_internet';
  // Its own `server_error` covers an overloaded server and a broken one, and a balance that is too low has status 400.
  return CLAUDE_ERRORS.get(asString(said['error'])) ?? errorOfHttpStatus(status);
}

/** Its codes, in its stream and at its `StopFailure` hook. */
export const CLAUDE_ERRORS: ReadonlyMap<string, AgentError> = new Map([
  ['authentication_failed', 'unauthorized'],
  ['billing_error', 'out_of_credits'],
  ['rate_limit', 'rate_limited'],
]);

/** Of this turn, over all models; older versions count only the conversation's own. */
function createUsageEvent(said: JsonFields): UsageEvent {
  const models = Object.values(asJsonFields(said['model_usage_since_last_result'])).map(asJsonFields);
  if (models.length > 0) return { kind: 'usage', of: 'turn', usage: models.map(usageOfModel).reduce(addUsage) };
  return { kind: 'usage', of: 'turn', usage: parseClaudeUsage(asJsonFields(said['usage'])) };
}

/** In the words of its API, in its stream and in its own record of a conversation. */
export function parseClaudeUsage(usage: JsonFields): TokenUsage {
  return {
    input: asNumber(usage['input_tokens']),
    output: asNumber(usage['output_tokens']),
    cacheRead: asNumber(usage['cache_read_input_tokens']),
    cacheWrite: asNumber(usage['cache_creation_input_tokens']),
    costMillicents: null,
  };
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
