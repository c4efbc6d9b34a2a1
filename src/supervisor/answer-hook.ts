import type { AgentReport } from './contract.ts';
import { agentError, resetTime } from './agent-errors.ts';

/** What a hook other than Stop says about the agent. */
export type HookSaid =
  | { readonly kind: 'progress' }
  | { readonly kind: 'report'; readonly report: AgentReport }
  | { readonly kind: 'nothing' };

/** Reads a hook's input, in the names and fields of Claude Code; what it does not know says nothing. */
export function readHook(name: string, input: Uint8Array): HookSaid {
  const fields = parse(input);
  switch (name) {
    case 'post-tool-use':
      return { kind: 'progress' };
    case 'notification':
      return readNotification(fields);
    case 'stop-failure':
      return readFailure(fields);
    default:
      return { kind: 'nothing' };
  }
}

function readNotification({ notification_type: type, message }: Fields): HookSaid {
  if (type === 'idle_prompt') return { kind: 'report', report: { kind: 'idle', why: 'waiting' } };
  if (type !== 'permission_prompt' && type !== 'elicitation_dialog') return { kind: 'nothing' };
  const prompt = typeof message === 'string' ? message : 'The agent asks for permission.';
  return { kind: 'report', report: { kind: 'prompted', prompt: prompt.slice(0, MAX_CHARACTERS) } };
}

function readFailure({ error, error_details: details, message, reset_at }: Fields): HookSaid {
  const texts = [error, details, message].filter((text) => typeof text === 'string');
  const text = texts.join(': ').slice(0, MAX_CHARACTERS);
  const report = {
    kind: 'errored',
    error: agentError(text),
    message: text,
    reset_at: resetTime(reset_at, text),
  } as const;
  return { kind: 'report', report };
}

const MAX_CHARACTERS = 4000;

type Fields = Readonly<Record<string, unknown>>;

function parse(input: Uint8Array): Fields {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(input));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
