import type { AgentError } from '../protocol/run-plan.ts';
import { fieldsOf, numberOf, parseFields, textOf, timeOfSeconds, type Fields } from './fields.ts';
import { codexUsage } from './codex.ts';
import { errorOfStatus, type Said, type UsageSaid } from './said.ts';

/** Where Codex keeps its record of a conversation, below its home (`CODEX_HOME`, or `~/.codex`). */
export function codexRolloutPattern(conversation: string): string {
  return `sessions/*/*/*/rollout-*-${conversation}.jsonl`;
}

/** Reads the end of that record: the model, and why the last turn failed, where it did. */
export function readCodexRollout(lines: readonly string[]): readonly Said[] {
  let model: Said[] = [];
  let limits: Fields | null = null;
  let failure: Said[] = [];
  for (const line of lines) {
    const { type, payload } = parseFields(line) ?? {};
    const fields = fieldsOf(payload);
    if (type === 'turn_context') {
      model = [{ kind: 'model', model: textOf(fields['model']) }];
      [limits, failure] = [null, []];
    } else if (fields['type'] === 'token_count') limits = fieldsOf(fields['rate_limits']);
    else if (fields['type'] === 'task_complete') failure = readFailure(fieldsOf(fields['error']), limits);
  }
  return [...model, ...failure];
}

/** What the whole conversation has used up to here. */
export function readCodexTotal(lines: readonly string[]): UsageSaid | undefined {
  const counts = lines
    .map((line) => fieldsOf(parseFields(line)?.['payload']))
    .filter(({ type }) => type === 'token_count');
  const total = fieldsOf(counts.at(-1)?.['info'])['total_token_usage'];
  return total === undefined ? undefined : codexUsage(fieldsOf(total));
}

function readFailure({ message, codex_error_info: info }: Fields, limits: Fields | null): Said[] {
  if (info === undefined) return [];
  const windows = [fieldsOf(limits?.['primary']), fieldsOf(limits?.['secondary'])];
  const error = kindOf(info, limits) ?? (textOf(message).startsWith(DISCONNECTED) ? 'no_internet' : null);
  const resetAt = error === 'rate_limited' ? endOf(windows) : null;
  return [{ kind: 'error', error, message: textOf(message), resetAt, isRetrying: false }];
}

/** A used-up plan comes with its limits, a used-up balance without. */
function kindOf(info: unknown, limits: Fields | null): AgentError | null {
  if (info === 'usage_limit_exceeded') return limits === null ? 'out_of_credits' : 'rate_limited';
  if (typeof info === 'string') return KINDS[info] ?? null;
  const [status] = Object.values(fieldsOf(info)).map((value) => fieldsOf(value)['http_status_code']);
  return typeof status === 'number' ? errorOfStatus(status) : 'no_internet';
}

const KINDS: Readonly<Record<string, AgentError>> = {
  unauthorized: 'unauthorized',
  server_overloaded: 'rate_limited',
  internal_server_error: 'no_internet',
};

/** Codex counts a connection that it could not make, or that broke, among `other`. The sentence is its own. */
const DISCONNECTED = 'stream disconnected before completion: ';

/** The limit that was reached decides; of two, the later. */
function endOf(windows: readonly Fields[]): string | null {
  const reached = windows.filter(({ used_percent }) => numberOf(used_percent) >= 100);
  const ends = reached.map(({ resets_at }) => numberOf(resets_at));
  return timeOfSeconds(Math.max(0, ...ends));
}
