import type { AgentReport } from '../../protocol/agent-report.ts';
import { AGENT_ERRORS, type AgentError } from '../../protocol/run-plan.ts';
import { type Fields, fieldsInJson } from '../../protocol/shape/read-unknown.ts';
import { CLAUDE_ERRORS } from '../../streams/claude.ts';

export type HookReport =
  | { readonly kind: 'progress' }
  | { readonly kind: 'report'; readonly report: AgentReport }
  | { readonly kind: 'failure'; readonly report: Extract<AgentReport, { kind: 'errored' }>; readonly isSure: boolean }
  | { readonly kind: 'nothing' };

/** Parses a hook's input, in Claude Code's format; unknown fields are ignored. */
export function parseHook(name: string, input: Uint8Array): HookReport {
  const fields = fieldsInJson(new TextDecoder().decode(input));
  switch (name) {
    case 'post-tool-use':
      return { kind: 'progress' };
    case 'notification':
      return readNotification(fields);
    case 'permission-request':
      return readPermission(fields);
    case 'stop-failure':
      return readFailure(fields);
    default:
      return { kind: 'nothing' };
  }
}

function readNotification({ notification_type: type, message }: Fields): HookReport {
  if (type === 'idle_prompt') return { kind: 'report', report: { kind: 'idle', why: 'waiting' } };
  if (type !== 'permission_prompt' && type !== 'elicitation_dialog') return { kind: 'nothing' };
  const prompt = typeof message === 'string' ? message : 'The agent asks for permission.';
  return { kind: 'report', report: { kind: 'prompted', prompt: prompt.slice(0, MAX_CHARACTERS) } };
}

/** Parses a permission request. The client continues without the tool if it is denied. */
function readPermission({ tool_name: tool, tool_input: input }: Fields): HookReport {
  const what = `May I use ${typeof tool === 'string' ? tool : 'a tool'}? ${JSON.stringify(input ?? {})}`;
  return { kind: 'report', report: { kind: 'prompted', prompt: what.slice(0, MAX_CHARACTERS) } };
}

function readFailure({ error, error_details: details, message, reset_at }: Fields): HookReport {
  const kind = classifyAgentError(error);
  // The message may repeat the code, so equal texts are reported once.
  const texts = new Set([error, details, message].filter((text) => typeof text === 'string' && text !== kind));
  const text = [...texts].join(': ').slice(0, MAX_CHARACTERS);
  const report = {
    kind: 'errored',
    // Uses only the client's error code, never other text.
    error: kind,
    message: text,
    reset_at: parseResetTime(reset_at),
  } as const;
  return { kind: 'failure', report, isSure: AGENT_ERRORS.some((each) => each === error) };
}

const MAX_CHARACTERS = 4000;

/**
 * Classifies by the whole code, because a number in other text is no evidence. An unknown code means that the model
 * cannot be reached.
 */
export function classifyAgentError(code: unknown): AgentError {
  const known = AGENT_ERRORS.find((each) => each === code);
  return known ?? (typeof code === 'string' ? CLAUDE_ERRORS.get(code) : undefined) ?? 'no_internet';
}

/** The time at which a limit ends, as RFC 3339; null if the field has none. */
export function parseResetTime(field: unknown): string | null {
  return typeof field === 'string' && !Number.isNaN(Date.parse(field)) ? new Date(field).toISOString() : null;
}
