import { AGENT_ERRORS } from '../protocol/run-plan.ts';
import { type Fields, fieldsOf, numberOf, textOf } from '../protocol/shape/read-unknown.ts';
import { type ClientStream, preToolDenial } from './client-stream.ts';
import { parseJsonFields, type StreamEvent, type TokenUsage, type UsageEvent } from './stream-event.ts';

/** A line that the driver of an ACP agent prints. `update` is the agent's own, with the pieces of a text joined. */
export type AcpLine =
  | {
      readonly type: 'session';
      readonly session_id: string;
      readonly agent: string;
      readonly version: string;
      readonly model: string | null;
      /** Whether the agent can load the session in a later process. */
      readonly resumable: boolean;
    }
  | { readonly type: 'prompt'; readonly text: string }
  | { readonly type: 'update'; readonly update: Fields }
  | {
      readonly type: 'permission';
      readonly tool: string;
      readonly what: string;
      readonly outcome: 'asked' | 'allowed' | 'denied';
    }
  | ({ readonly type: 'usage' } & Omit<UsageEvent, 'kind'>)
  | { readonly type: 'model'; readonly model: string }
  | {
      readonly type: 'error';
      readonly error: (typeof AGENT_ERRORS)[number] | null;
      readonly message: string;
      readonly reset_at: string | null;
      readonly is_retrying: boolean;
    }
  | { readonly type: 'note'; readonly text: string }
  /** The agent sent a report that is not printed. */
  | { readonly type: 'activity' }
  /** The turn has ended and the process exits. Turns that continue with another prompt have no such line. */
  | { readonly type: 'end'; readonly failed: boolean };

/** The stream of the driver. The agents keep their own records, which Baton does not read. */
export const acpStream: ClientStream = {
  recordsIn: () => NOWHERE,
  readLine: parseAcpLine,
  readEnd: () => [],
  readTranscript: () => undefined,
  findConversation: () => null,
  record: { filesOf: () => [], readLine: () => [], modelIn: () => '', isUncounted: () => false },
  denyTool: (reason) => ({
    answer: { continue: false, stopReason: reason, hookSpecificOutput: preToolDenial(reason) },
    endsProcess: false,
  }),
};

const NOWHERE = '/dev/null';

export function parseAcpLine(line: string): readonly StreamEvent[] {
  const event = parseJsonFields(line);
  switch (event?.['type']) {
    case 'session':
      return [...readConversation(event), ...readModel(event)];
    case 'model':
      return readModel(event);
    case 'update':
      return readUpdate(fieldsOf(event['update']));
    case 'permission':
      return event['outcome'] === 'asked'
        ? [{ kind: 'permission', tool: textOf(event['tool']), what: textOf(event['what']) }]
        : [];
    case 'usage':
      return [readUsage(event)];
    case 'error':
      return [readError(event)];
    case 'end':
      return [{ kind: 'turn-ended', failed: event['failed'] === true }];
    default:
      return [];
  }
}

function readConversation({ session_id, resumable }: Fields): StreamEvent[] {
  const id = textOf(session_id);
  return resumable === true && id !== '' ? [{ kind: 'conversation', id }] : [];
}

function readModel({ model }: Fields): StreamEvent[] {
  return textOf(model) === '' ? [] : [{ kind: 'model', model: textOf(model) }];
}

function readUpdate(update: Fields): StreamEvent[] {
  const id = textOf(update['toolCallId']);
  const status = update['status'];
  const isOver = status === 'completed' || status === 'failed';
  const ended: StreamEvent[] = isOver ? [{ kind: 'tool-ended', id, failed: status === 'failed' }] : [];
  switch (update['sessionUpdate']) {
    case 'agent_message_chunk':
      return [{ kind: 'words', text: textOf(fieldsOf(update['content'])['text']) }];
    case 'tool_call':
      return [{ kind: 'tool-started', id, tool: textOf(update['title']) || textOf(update['kind']) }, ...ended];
    case 'tool_call_update':
      return ended;
    default:
      return [];
  }
}

function readUsage({ usage, of, id, request }: Fields): UsageEvent {
  return {
    kind: 'usage',
    of: of === 'conversation' || of === 'message' ? of : 'turn',
    usage: readTokens(fieldsOf(usage)),
    ...(typeof id === 'string' ? { id } : {}),
    ...(request === undefined ? {} : { request: readTokens(fieldsOf(request)) }),
  };
}

function readTokens({ input, output, cacheRead, cacheWrite, costMillicents }: Fields): TokenUsage {
  return {
    input: numberOf(input),
    output: numberOf(output),
    cacheRead: numberOf(cacheRead),
    cacheWrite: numberOf(cacheWrite),
    costMillicents: typeof costMillicents === 'number' ? costMillicents : null,
  };
}

function readError({ error, message, reset_at, is_retrying }: Fields): StreamEvent {
  return {
    kind: 'error',
    error: AGENT_ERRORS.find((kind) => kind === error) ?? null,
    message: textOf(message),
    resetAt: typeof reset_at === 'string' ? reset_at : null,
    isRetrying: is_retrying === true,
  };
}
