import type { AgentError } from '../protocol/run-plan.ts';
import { type Fields, fieldsOf, numberOf, textOf } from '../protocol/shape/read-unknown.ts';
import {
  type ClientStream,
  clientHome,
  findOnlyConversation,
  findRecords,
  preToolDenial,
  type RecordHint,
} from './client-stream.ts';
import { readLastLines } from './file-lines.ts';
import {
  batonCall,
  errorOfHttpStatus,
  parseJsonFields,
  renderEpochSeconds,
  type StreamEvent,
  type UsageEvent,
} from './stream-event.ts';

export const codexStream: ClientStream = {
  recordsIn: (env) => clientHome(env, 'CODEX_HOME', '.codex'),
  readLine: parseCodexLine,
  readEnd: ({ conversation, folder }) =>
    conversation === null ? [] : parseCodexRollout(readRollout(conversation, folder) ?? []),
  readTranscript: ({ conversation, folder }) => {
    const lines = readRollout(conversation, folder);
    return lines && findTotal(lines);
  },
  findConversation: (start) =>
    findOnlyConversation(start, findRecords(start.folder, 'sessions/*/*/*/rollout-*.jsonl'), ([first]) => {
      const { id, cwd } = fieldsOf(first?.['payload']);
      return cwd === start.cwd ? textOf(id) : '';
    }),
  record: {
    // Subagents are excluded: each has its own conversation, which its hooks name.
    filesOf: ({ path }) => [path],
    readLine: (line, { conversation: id }) => {
      const { total_token_usage: total, last_token_usage: last } = fieldsOf(fieldsOf(line['payload'])['info']);
      if (!isCount(line) || total === undefined) return [];
      return [{ ...parseUsage(fieldsOf(total)), id, request: parseUsage(fieldsOf(last)).usage }];
    },
    modelIn: ({ type, payload }) => (type === 'turn_context' ? textOf(fieldsOf(payload)['model']) : ''),
    isUncounted,
  },
  // Codex treats a response with `continue` as a broken hook and runs the tool; without `continue`, it asks the model
  // again.
  denyTool: (reason) => ({ answer: { hookSpecificOutput: preToolDenial(reason) }, endsProcess: true }),
};

/** The end of a conversation's rollout; undefined if there is none. */
function readRollout(conversation: string, folder: string): readonly string[] | undefined {
  const [file] = findRecords(folder, codexRolloutPattern(conversation));
  return file === undefined ? undefined : readLastLines(file);
}

function isCount({ payload }: Fields): boolean {
  return fieldsOf(payload)['type'] === 'token_count';
}

/** Codex counts a response after the tools that it requests have run. */
function isUncounted(lines: readonly Fields[], { toolUse }: RecordHint): boolean {
  if (toolUse === undefined) return false;
  const requested = lines.findLastIndex(({ payload }) => fieldsOf(payload)['call_id'] === toolUse);
  return requested < 0 || lines.findLastIndex(isCount) < requested;
}

/** Parses a line of `codex exec --json`. It reports failures as prose; the kind of an error is in the rollout. */
export function parseCodexLine(line: string): readonly StreamEvent[] {
  const event = parseJsonFields(line);
  switch (event?.['type']) {
    case 'thread.started':
      return [{ kind: 'conversation', id: textOf(event['thread_id']) }];
    case 'item.started':
      return readStarted(fieldsOf(event['item']));
    case 'item.completed':
      return readCompleted(fieldsOf(event['item']));
    case 'turn.completed':
      return [parseUsage(fieldsOf(event['usage'])), { kind: 'turn-ended', failed: false }];
    case 'turn.failed':
      return [createErrorEvent(fieldsOf(event['error'])), { kind: 'turn-ended', failed: true }];
    default:
      // A line of type `error` is a failed attempt, or precedes `turn.failed`.
      return [];
  }
}

function readStarted(item: Fields): StreamEvent[] {
  const tool = toolOf(item);
  if (tool === null) return [];
  // The server has the name under which Baton adds it, not one of the user's settings.
  const call = item['type'] === 'mcp_tool_call' ? batonCall('mcp__baton_run__', tool, item['arguments']) : {};
  return [{ kind: 'tool-started', id: textOf(item['id']), tool, ...call }];
}

function readCompleted(item: Fields): StreamEvent[] {
  if (item['type'] === 'agent_message') return [{ kind: 'words', text: `${textOf(item['text'])}\n` }];
  return toolOf(item) === null
    ? []
    : [{ kind: 'tool-ended', id: textOf(item['id']), failed: item['status'] !== 'completed' }];
}

/** Items of type `error` are warnings; `reasoning` and `todo_list` are no tools. */
function toolOf({ type, server, tool }: Fields): string | null {
  if (type === 'mcp_tool_call') return `mcp__${textOf(server)}__${textOf(tool)}`;
  return type === 'command_execution' || type === 'file_change' || type === 'web_search' ? type : null;
}

/** Parses the usage of the whole conversation, including resumes. */
function parseUsage(usage: Fields): UsageEvent {
  const cacheRead = numberOf(usage['cached_input_tokens']);
  const cacheWrite = numberOf(usage['cache_write_input_tokens']);
  const input = numberOf(usage['input_tokens']) - cacheRead - cacheWrite;
  const output = numberOf(usage['output_tokens']);
  return { kind: 'usage', of: 'conversation', usage: { input, output, cacheRead, cacheWrite, costMillicents: null } };
}

function createErrorEvent({ message }: Fields): StreamEvent {
  return { kind: 'error', error: null, message: textOf(message), resetAt: null, isRetrying: false };
}

/** The glob pattern of a conversation's record below `CODEX_HOME` or `~/.codex`. */
export function codexRolloutPattern(conversation: string): string {
  return `sessions/*/*/*/rollout-*-${conversation}.jsonl`;
}

/** Parses the end of the record: the model, and why the last turn failed. */
export function parseCodexRollout(lines: readonly string[]): readonly StreamEvent[] {
  let model: StreamEvent[] = [];
  let limits: Fields | null = null;
  let failure: StreamEvent[] = [];
  for (const line of lines) {
    const { type, payload } = parseJsonFields(line) ?? {};
    const fields = fieldsOf(payload);
    if (type === 'turn_context') {
      model = [{ kind: 'model', model: textOf(fields['model']) }];
      [limits, failure] = [null, []];
    } else if (fields['type'] === 'token_count') limits = fieldsOf(fields['rate_limits']);
    else if (fields['type'] === 'task_complete') failure = readFailure(fieldsOf(fields['error']), limits);
  }
  return [...model, ...failure];
}

/** Finds the usage of the whole conversation so far. */
function findTotal(lines: readonly string[]): UsageEvent | undefined {
  const counts = lines
    .map((line) => fieldsOf(parseJsonFields(line)?.['payload']))
    .filter(({ type }) => type === 'token_count');
  const total = fieldsOf(counts.at(-1)?.['info'])['total_token_usage'];
  return total === undefined ? undefined : parseUsage(fieldsOf(total));
}

function readFailure({ message, codex_error_info: info }: Fields, limits: Fields | null): StreamEvent[] {
  if (info === undefined) return [];
  const windows = [fieldsOf(limits?.['primary']), fieldsOf(limits?.['secondary'])];
  const error = kindOf(info, limits) ?? (textOf(message).startsWith(DISCONNECTED) ? 'no_internet' : null);
  const resetAt = error === 'rate_limited' ? endOf(windows) : null;
  return [{ kind: 'error', error, message: textOf(message), resetAt, isRetrying: false }];
}

/** The kind of an error: an exhausted plan is reported with its limits, an exhausted balance without. */
function kindOf(info: unknown, limits: Fields | null): AgentError | null {
  if (info === 'usage_limit_exceeded') return limits === null ? 'out_of_credits' : 'rate_limited';
  if (typeof info === 'string') return KINDS[info] ?? null;
  const [status] = Object.values(fieldsOf(info)).map((value) => fieldsOf(value)['http_status_code']);
  return typeof status === 'number' ? errorOfHttpStatus(status) : 'no_internet';
}

const KINDS: Readonly<Record<string, AgentError>> = {
  unauthorized: 'unauthorized',
  server_overloaded: 'rate_limited',
  internal_server_error: 'no_internet',
};

/** The text with which Codex reports a failed or broken connection, as `other`. */
const DISCONNECTED = 'stream disconnected before completion: ';

/** The time at which the exhausted limit ends; of two limits, the later time. */
function endOf(windows: readonly Fields[]): string | null {
  const reached = windows.filter(({ used_percent }) => numberOf(used_percent) >= 100);
  const ends = reached.map(({ resets_at }) => numberOf(resets_at));
  return renderEpochSeconds(Math.max(0, ...ends));
}
