import { PROTOCOL_LIMITS } from './limits.ts';
import { flag, optional, text } from './shape/build-shape.ts';
import { defineMessage } from './shape/message.ts';
import { accepted, type Parsed, problem, refused, tooLarge } from './shape/problem.ts';
import { isObject } from './shape/read-unknown.ts';
import { jsonSchemaOf, type ObjectShape, type ValueOf } from './shape/shape.ts';
import { parseJsonDocument } from './text/json.ts';
import { byteLengthOf, decodeUtf8 } from './text/text-format.ts';

export const stopHookInputShape = {
  kind: 'object',
  open: true,
  about: 'What a client tells its stop hook.',
  fields: {
    stop_hook_active: optional(flag, 'The agent goes on because a stop hook blocked it before.'),
    session_id: optional(text, "The client's own id of the conversation."),
    hook_event_name: optional(text, 'Stop, SubagentStop, AfterAgent.'),
    cwd: optional(text, 'Where the agent works.'),
    transcript_path: optional(text, 'The conversation on disk; not always complete at this moment.'),
    last_assistant_message: optional(text, 'What the agent said last.'),
  },
} as const satisfies ObjectShape;

export type StopHookInput = ValueOf<typeof stopHookInputShape>;
export const stopHookInputSchema = jsonSchemaOf('Stop hook input', stopHookInputShape);

/**
 * Parses the input of a stop hook leniently, because clients cut texts inside a character and repeat fields. Returns
 * only the fields that Baton uses.
 */
export function parseStopHookInput(input: string | Uint8Array): Parsed<StopHookInput> {
  const bytes = byteLengthOf(input);
  if (bytes > PROTOCOL_LIMITS.stopHookBytes) return refused(tooLarge(bytes, PROTOCOL_LIMITS.stopHookBytes));
  const value = jsonOrUndefined(decodeUtf8(input));
  if (!isObject(value)) return refused(problem('invalid-json', 'Stop hook input must be a JSON object', HINT));
  const read: Record<string, unknown> = {};
  for (const [name, { kind }] of Object.entries(stopHookInputShape.fields)) {
    const type = kind === 'flag' ? 'boolean' : 'string';
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given === undefined || given === null) continue;
    if (typeof given !== type)
      return refused({ ...problem('wrong-type', `Field ${name} must be a ${type}`, HINT), path: name });
    read[name] = typeof given === 'string' ? given.toWellFormed() : given;
  }
  return accepted(read);
}

/** Reports whether the client says that it continues because of a block. False if the input cannot be parsed. */
export function isStopHookActive(input: string | Uint8Array): boolean {
  const parsed = parseStopHookInput(input);
  return parsed.ok && parsed.value.stop_hook_active === true;
}

export function renderStopHookInput(input: StopHookInput): string {
  return JSON.stringify(input);
}

const HINT = 'A stop hook gets one JSON object on standard input, as Claude Code sends it.';

function jsonOrUndefined(json: string | undefined): unknown {
  try {
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined;
  }
}

export const stopHookBlockShape = {
  kind: 'object',
  about: 'The answer of a stop hook that keeps the agent going; an empty answer lets it stop.',
  fields: {
    decision: { kind: 'choice', values: ['block'], about: 'Always `block`.' },
    reason: { kind: 'text', notEmpty: true, about: 'What the agent is told.' },
  },
} as const satisfies ObjectShape;

export type StopHookBlock = ValueOf<typeof stopHookBlockShape>;
/** `allow` is an empty output: with exit code 0, clients let the agent stop. */
export type StopHookOutput = { readonly decision: 'allow' } | StopHookBlock;
const block = defineMessage({ title: 'Stop hook output', shape: stopHookBlockShape, read: parseJsonDocument });
export const stopHookOutputSchema = block.schema;

export function parseStopHookOutput(output: string | Uint8Array): Parsed<StopHookOutput> {
  return decodeUtf8(output)?.trim() === '' ? accepted({ decision: 'allow' }) : block.parse(output);
}

export function renderStopHookOutput(output: StopHookOutput): string {
  return output.decision === 'allow' ? '' : JSON.stringify({ decision: output.decision, reason: output.reason });
}
