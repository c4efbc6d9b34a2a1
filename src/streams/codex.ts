import type { AgentError } from '../protocol/run-plan.ts';
import {
  asJsonFields,
  asNumber,
  asString,
  errorOfHttpStatus,
  type JsonFields,
  parseJsonFields,
  renderEpochSeconds,
  type StreamEvent,
  type UsageEvent,
} from './stream-event.ts';

/** Reads a line of `codex exec --json`. It reports failures as prose; the kind of an error is in the rollout. */
export function parseCodexLine(line: string): readonly StreamEvent[] {
  const event = parseJsonFields(line);
  switch (event?.['type']) {
    case 'thread.started':
      return [{ kind: 'conversation', id: asString(event['thread_id']) }];
    case 'item.started':
      return readStarted(asJsonFields(event['item']));
    case 'item.completed':
      return readCompleted(asJsonFields(event['item']));
    case 'turn.completed':
      return [parseCodexUsage(asJsonFields(event['usage'])), { kind: 'turn-ended', failed: false }];
    case 'turn.failed':
      return [createErrorEvent(asJsonFields(event['error'])), { kind: 'turn-ended', failed: true }];
    default:
      // A line of type `error` is a failed attempt, or precedes `turn.failed`.
      return [];
  }
}

function readStarted(item: JsonFields): StreamEvent[] {
  const tool = toolOf(item);
  return tool === null ? [] : [{ kind: 'tool-started', id: asString(item['id']), tool }];
}

function readCompleted(item: JsonFields): StreamEvent[] {
  if (item['type'] === 'agent_message') return [{ kind: 'words', text: `${asString(item['text'])}\n` }];
  return toolOf(item) === null
    ? []
    : [{ kind: 'tool-ended', id: asString(item['id']), failed: item['status'] !== 'completed' }];
}

/** Items of type `error` are warnings; `reasoning` and `todo_list` are no tools. */
function toolOf({ type, server, tool }: JsonFields): string | null {
  if (type === 'mcp_tool_call') return `mcp__${asString(server)}__${asString(tool)}`;
  return type === 'command_execution' || type === 'file_change' || type === 'web_search' ? type : null;
}

/** The count covers the whole conversation, including resumes. */
export function parseCodexUsage(usage: JsonFields): UsageEvent {
  const cacheRead = asNumber(usage['cached_input_tokens']);
  const cacheWrite = asNumber(usage['cache_write_input_tokens']);
  const input = asNumber(usage['input_tokens']) - cacheRead - cacheWrite;
  const output = asNumber(usage['output_tokens']);
  return { kind: 'usage', of: 'conversation', usage: { input, output, cacheRead, cacheWrite, costMillicents: null } };
}

function createErrorEvent({ message }: JsonFields): StreamEvent {
  return { kind: 'error', error: null, message: asString(message), resetAt: null, isRetrying: false };
}

/** The path of a conversation's record below `CODEX_HOME` or `~/.codex`. */
export function codexRolloutPattern(conversation: string): string {
  return `sessions/*/*/*/rollout-*-${conversation}.jsonl`;
}

/** Reads the end of the record: the model, and why the last turn failed. */
export function parseCodexRollout(lines: readonly string[]): readonly StreamEvent[] {
  let model: StreamEvent[] = [];
  let limits: JsonFields | null = null;
  let failure: StreamEvent[] = [];
  for (const line of lines) {
    const { type, payload } = parseJsonFields(line) ?? {};
    const fields = asJsonFields(payload);
    if (type === 'turn_context') {
      model = [{ kind: 'model', model: asString(fields['model']) }];
      [limits, failure] = [null, []];
    } else if (fields['type'] === 'token_count') limits = asJsonFields(fields['rate_limits']);
    else if (fields['type'] === 'task_complete') failure = readFailure(asJsonFields(fields['error']), limits);
  }
  return [...model, ...failure];
}

/** The usage of the whole conversation so far. */
export function findCodexTotal(lines: readonly string[]): UsageEvent | undefined {
  const counts = lines
    .map((line) => asJsonFields(parseJsonFields(line)?.['payload']))
    .filter(({ type }) => type === 'token_count');
  const total = asJsonFields(counts.at(-1)?.['info'])['total_token_usage'];
  return total === undefined ? undefined : parseCodexUsage(asJsonFields(total));
}

function readFailure({ message, codex_error_info: info }: JsonFields, limits: JsonFields | null): StreamEvent[] {
  if (info === undefined) return [];
  const windows = [asJsonFields(limits?.['primary']), asJsonFields(limits?.['secondary'])];
  const error = kindOf(info, limits) ?? (asString(message).startsWith(DISCONNECTED) ? 'no_internet' : null);
  const resetAt = error === 'rate_limited' ? endOf(windows) : null;
  return [{ kind: 'error', error, message: asString(message), resetAt, isRetrying: false }];
}

/** An exhausted plan comes with its limits, an exhausted balance without. */
function kindOf(info: unknown, limits: JsonFields | null): AgentError | null {
  if (info === 'usage_limit_exceeded') return limits === null ? 'out_of_credits' : 'rate_limited';
  if (typeof info === 'string') return KINDS[info] ?? null;
  const [status] = Object.values(asJsonFields(info)).map((value) => asJsonFields(value)['http_status_code']);
  return typeof status === 'number' ? errorOfHttpStatus(status) : 'no_internet';
}

const KINDS: Readonly<Record<string, AgentError>> = {
  unauthorized: 'unauthorized',
  server_overloaded: 'rate_limited',
  internal_server_error: 'no_internet',
};

/** Codex reports a failed or broken connection as `other` with this text. */
const DISCONNECTED = 'stream disconnected before completion: ';

/** The end of the exhausted limit; of two, the later. */
function endOf(windows: readonly JsonFields[]): string | null {
  const reached = windows.filter(({ used_percent }) => asNumber(used_percent) >= 100);
  const ends = reached.map(({ resets_at }) => asNumber(resets_at));
  return renderEpochSeconds(Math.max(0, ...ends));
}
