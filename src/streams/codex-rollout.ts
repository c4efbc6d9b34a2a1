import type { AgentError } from '../protocol/run-plan.ts';
import { asJsonFields, asNumber, parseJsonFields, asString, renderEpochSeconds, type JsonFields } from './fields.ts';
import { parseCodexUsage } from './codex.ts';
import { errorOfHttpStatus, type StreamEvent, type UsageEvent } from './stream-event.ts';

/** Where Codex keeps its record of a conversation, below its home (`CODEX_HOME`, or `~/.codex`). */
export function codexRolloutPattern(conversation: string): string {
  return `sessions/*/*/*/rollout-*-${conversation}.jsonl`;
}

/** Reads the end of that record: the model, and why the last turn failed, where it did. */
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

/** What the whole conversation has used up to here. */
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

/** A used-up plan comes with its limits, a used-up balance without. */
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

/** Codex counts a connection that it could not make, or that broke, among `other`. The sentence is its own. */
const DISCONNECTED = 'stream disconnected before completion: ';

/** The limit that was reached decides; of two, the later. */
function endOf(windows: readonly JsonFields[]): string | null {
  const reached = windows.filter(({ used_percent }) => asNumber(used_percent) >= 100);
  const ends = reached.map(({ resets_at }) => asNumber(resets_at));
  return renderEpochSeconds(Math.max(0, ...ends));
}
