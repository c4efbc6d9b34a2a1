import { RPC, type RpcError } from '../../../acp/connection.ts';
import type { AgentError } from '../../../protocol/run-plan.ts';
import { type Fields, fieldsOf, findText, textOf } from '../../../protocol/shape/read-unknown.ts';
import { CLAUDE_ERRORS } from '../../../streams/claude.ts';
import { errorOfHttpStatus } from '../../../streams/stream-event.ts';

export interface PromptError {
  readonly error: AgentError | null;
  readonly message: string;
  /** RFC 3339; null if unknown. */
  readonly resetAt: string | null;
}

/**
 * Uses only the codes and fields of the agent, because its messages may contain any text. An error without a kind ends
 * the process.
 */
export function classifyError({ code, message, data }: RpcError, now: number): PromptError {
  const fields = fieldsOf(data);
  return {
    error: CODES.get(code) ?? findKind(fields) ?? errorOfHttpStatus(statusOf(code, data)),
    message: describe(message, data),
    resetAt: findResetTime(fields) ?? (code === 429 ? findWait(message, now) : null),
  };
}

const CODES: ReadonlyMap<number, AgentError> = new Map([
  [RPC.authRequired, 'unauthorized'],
  // Used by Grok.
  [-32_003, 'rate_limited'],
]);

/** Codex answers a failed turn like a successful one, with the failure in a field. */
export function findFailure(response: Fields): PromptError | undefined {
  const air = fieldsOf(fieldsOf(fieldsOf(response['_meta'])['jetbrains'])['air']);
  const { severity, category, title } = fieldsOf(air['sessionFailure']);
  if (severity !== 'error') return undefined;
  return {
    error: CATEGORIES.get(textOf(category)) ?? null,
    message: textOf(title) || 'the turn failed',
    resetAt: null,
  };
}

const CATEGORIES: ReadonlyMap<string, AgentError> = new Map([
  ['limit', 'rate_limited'],
  ['service', 'no_internet'],
]);

/** Grok reports its retries, and why it gave up, in its own notification. */
export function readRetry(
  method: string,
  params: Fields,
): (PromptError & { readonly isRetrying: boolean }) | undefined {
  const { sessionUpdate, type, error_type: kind, message, reason } = fieldsOf(params['update']);
  if (method !== '_x.ai/session_notification' || sessionUpdate !== 'retry_state') return undefined;
  const error = kind === 'auth' ? 'unauthorized' : kind === 'rate_limited' ? 'rate_limited' : null;
  const text = (textOf(reason) || textOf(message)).slice(0, MAX_CHARACTERS);
  return { error, message: text, resetAt: null, isRetrying: type === 'retrying' };
}

function findKind({ errorKind, codexErrorInfo }: Fields): AgentError | undefined {
  return KINDS.get(textOf(errorKind)) ?? KINDS.get(textOf(codexErrorInfo));
}

const KINDS: ReadonlyMap<string, AgentError> = new Map([
  ...CLAUDE_ERRORS,
  ['unauthorized', 'unauthorized'],
  ['billing', 'out_of_credits'],
  ['out_of_credits', 'out_of_credits'],
  ['rate_limited', 'rate_limited'],
  ['server_error', 'no_internet'],
  ['usageLimitExceeded', 'rate_limited'],
  ['no_internet', 'no_internet'],
]);

/** The HTTP status is the error code (Gemini CLI), a field (Grok), or the start of the details (Qwen Code). */
function statusOf(code: number, data: unknown): number {
  const { http_status, statusCode, status, details } = fieldsOf(data);
  const field = [http_status, statusCode, status].find((each) => typeof each === 'number');
  const written = /^(\d{3})\b/.exec(textOf(details))?.[1];
  return field ?? (written === undefined ? code : Number(written));
}

function findResetTime({ resetAt, reset_at }: Fields): string | null {
  const text = findText(resetAt) ?? findText(reset_at) ?? '';
  return Number.isNaN(Date.parse(text)) ? null : new Date(text).toISOString();
}

/** Gemini CLI adds the wait that the API requests to its message. */
function findWait(message: string, now: number): string | null {
  const seconds = /\nSuggested retry after (\d{1,9}(?:\.\d+)?)s\.$/.exec(message)?.[1];
  return seconds === undefined ? null : new Date(now + Number(seconds) * 1000).toISOString();
}

function describe(message: string, data: unknown): string {
  const { details, message: inner } = fieldsOf(data);
  const more = typeof data === 'string' ? data : textOf(details) || textOf(inner);
  return (more === '' || message.includes(more) ? message : `${message}: ${more}`).slice(0, MAX_CHARACTERS);
}

const MAX_CHARACTERS = 4000;
