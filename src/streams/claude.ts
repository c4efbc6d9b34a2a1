import { basename } from 'node:path';
import type { AgentError } from '../protocol/run-plan.ts';
import { type Fields, fieldsOf, numberOf, objectsOf, textOf } from '../protocol/shape/read-unknown.ts';
import {
  type ClientStream,
  clientHome,
  findOnlyConversation,
  findRecords,
  preToolDenial,
  sumMessages,
} from './client-stream.ts';
import { filesBelow } from './file-lines.ts';
import {
  batonCall,
  type AgentErrorEvent,
  errorOfHttpStatus,
  parseJsonFields,
  renderEpochSeconds,
  type StreamEvent,
  type TokenUsage,
  type UsageEvent,
} from './stream-event.ts';
import { addUsage } from './tally.ts';

export const claudeStream: ClientStream = {
  recordsIn: (env) => clientHome(env, 'CLAUDE_CONFIG_DIR', '.claude'),
  readLine: parseClaudeLine,
  readEnd: () => [],
  readTranscript: (excerpt) => {
    const { conversation, folder } = excerpt;
    const files = [`projects/*/${conversation}.jsonl`, `projects/*/${conversation}/**/*.jsonl`];
    return sumMessages(excerpt, findRecords(folder, files), usageOfRecordedMessage);
  },
  findConversation: (start) =>
    findOnlyConversation(start, findRecords(start.folder, 'projects/*/*.jsonl'), (lines, file) =>
      lines.some(({ cwd }) => cwd === start.cwd) ? basename(file, '.jsonl') : '',
    ),
  record: {
    filesOf: ({ path }) => [path, ...filesBelow(path.replace(/\.jsonl$/, ''))],
    // The stream reports each message before the record does. A message that the stream has not reported belongs to a
    // finished turn.
    readLine: (line) => usageOfRecordedMessage(line).map((event) => ({ ...event, isUpdate: true })),
    // The record need not name the model, because the stream names it for each request.
    modelIn: () => '',
    isUncounted: () => false,
  },
  // With `continue` alone, Claude Code would still run the tool.
  denyTool: (reason) => ({
    answer: { continue: false, stopReason: reason, hookSpecificOutput: preToolDenial(reason) },
    endsProcess: false,
  }),
};

/** Parses a line of `claude -p --output-format stream-json --verbose`. */
export function parseClaudeLine(line: string, at: number): readonly StreamEvent[] {
  const event = parseJsonFields(line);
  if (event === null) return [];
  // For the agent, a subagent's text is a tool result; its usage counts.
  if (typeof event['parent_tool_use_id'] === 'string')
    return event['type'] === 'assistant' ? usageOfMessage(event) : [];
  switch (event['type']) {
    case 'system':
      return readSystem(event, at);
    case 'assistant':
      return readAssistant(event);
    case 'user':
      return objectsOf(fieldsOf(event['message'])['content']).flatMap(readResultOfTool);
    case 'control_request':
      return readControl(fieldsOf(event['request']));
    case 'result':
      return [createUsageEvent(event), { kind: 'turn-ended', failed: event['is_error'] === true }];
    default:
      return [];
  }
}

function readSystem(event: Fields, at: number): StreamEvent[] {
  switch (event['subtype']) {
    case 'init':
      return [
        { kind: 'conversation', id: textOf(event['session_id']) },
        { kind: 'model', model: textOf(event['model']) },
      ];
    case 'api_retry': {
      const resetAt = new Date(at + numberOf(event['retry_delay_ms'])).toISOString();
      return [{ ...createErrorEvent(event, numberOf(event['error_status'])), resetAt, isRetrying: true }];
    }
    case 'permission_denied':
      return [{ kind: 'permission', tool: textOf(event['tool_name']), what: textOf(event['message']) }];
    default:
      return [];
  }
}

/** The client reports an API error as a message; its text is not the agent's. */
function readAssistant(event: Fields): StreamEvent[] {
  if (typeof event['error'] === 'string') return [createErrorEvent(event, numberOf(event['api_error_status']))];
  return [...objectsOf(fieldsOf(event['message'])['content']).flatMap(readBlock), ...usageOfMessage(event)];
}

/** A message has several lines, each with the usage at the message's start. */
function usageOfMessage(event: Fields): UsageEvent[] {
  const { id, usage } = fieldsOf(event['message']);
  const counted = fieldsOf(usage);
  if (usage === undefined || Object.values(counted).every((value) => !Number(value))) return [];
  return [{ kind: 'usage', of: 'message', id: textOf(id), usage: parseClaudeUsage(counted) }];
}

function readBlock({ type, text, id, name, input }: Fields): StreamEvent[] {
  if (type === 'text') return [{ kind: 'words', text: `${textOf(text)}\n` }];
  if (type !== 'tool_use') return [];
  return [{ kind: 'tool-started', id: textOf(id), tool: textOf(name), ...batonCall('mcp__baton__', name, input) }];
}

function readResultOfTool({ type, tool_use_id: id, is_error }: Fields): StreamEvent[] {
  return type === 'tool_result' ? [{ kind: 'tool-ended', id: textOf(id), failed: is_error === true }] : [];
}

function readControl({ subtype, tool_name: tool, input }: Fields): StreamEvent[] {
  return subtype === 'can_use_tool' ? [{ kind: 'permission', tool: textOf(tool), what: JSON.stringify(input) }] : [];
}

function createErrorEvent(event: Fields, status: number): AgentErrorEvent {
  const limit = fieldsOf(fieldsOf(event['api_error_params'])['rate_limit_info']);
  const words = objectsOf(fieldsOf(event['message'])['content']).map(({ text }) => textOf(text));
  return {
    kind: 'error',
    error: kindOf(event, status),
    message: words.join('\n') || textOf(event['error']),
    resetAt: renderEpochSeconds(limit['resetsAt']),
    isRetrying: false,
  };
}

function kindOf(event: Fields, status: number): AgentError | null {
  if (event['api_error'] === 'connection_failed') return 'no_internet';
  // `server_error` covers overload and failure, and a low balance has status 400, so the status decides.
  return CLAUDE_ERRORS.get(textOf(event['error'])) ?? errorOfHttpStatus(status);
}

/** Codes in the stream and in the `StopFailure` hook. */
export const CLAUDE_ERRORS: ReadonlyMap<string, AgentError> = new Map([
  ['authentication_failed', 'unauthorized'],
  ['billing_error', 'out_of_credits'],
  ['rate_limit', 'rate_limited'],
]);

/** The usage of this turn over all models; older versions report only the conversation's model. */
function createUsageEvent(event: Fields): UsageEvent {
  const models = Object.values(fieldsOf(event['model_usage_since_last_result'])).map(fieldsOf);
  if (models.length > 0) return { kind: 'usage', of: 'turn', usage: models.map(usageOfModel).reduce(addUsage) };
  return { kind: 'usage', of: 'turn', usage: parseClaudeUsage(fieldsOf(event['usage'])) };
}

/** Parses the API's field names, which occur in the stream and in the client's record. */
function parseClaudeUsage(usage: Fields): TokenUsage {
  return {
    input: numberOf(usage['input_tokens']),
    output: numberOf(usage['output_tokens']),
    cacheRead: numberOf(usage['cache_read_input_tokens']),
    cacheWrite: numberOf(usage['cache_creation_input_tokens']),
    costMillicents: null,
  };
}

function usageOfRecordedMessage({ type, message }: Fields): UsageEvent[] {
  const { id, usage } = fieldsOf(message);
  if (type !== 'assistant' || usage === undefined) return [];
  return [{ kind: 'usage', of: 'message', id: textOf(id), usage: parseClaudeUsage(fieldsOf(usage)) }];
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
