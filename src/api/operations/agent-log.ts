import { choice, count, flag, list, nullable, object, optional, text } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { operation } from './operation.ts';

/** How much of a log one call reads. */
export const LOG_LIMITS = { lines: 200, mostLines: 5000, bytes: 256 * 1024, mostBytes: 1024 * 1024 } as const;

const logPart = object({
  agent_id: { ...nullable(text), about: 'Null for a command.' },
  format: {
    ...choice(['text', 'stream-json', 'codex', 'gemini', 'acp']),
    about: 'What the program prints: plain text, or the JSON lines of a client.',
  },
  text: { ...text, about: 'Whole lines, each with its line break.' },
  kinds: {
    ...list(choice(['text', 'dim', 'tool', 'result', 'bad', 'call', 'raw'])),
    about: 'How to show each line of `text`; `raw` is a line as it is in the log. Empty with `raw`.',
  },
  from: { ...count, about: 'Where `text` begins in the log, in bytes.' },
  to: { ...count, about: 'Where it ends: the `from` of the next call.' },
  size: { ...count, about: 'Of the log.' },
  printed_at: { ...nullable(text), about: 'When the program last printed something; null if there is no log.' },
  ended: { ...flag, about: 'Nothing more will be written.' },
  is_cut: {
    ...flag,
    about: 'The log was cut since `file`: of a long output only the beginning and the end are kept. `text` is its end.',
  },
  file: { ...text, about: 'Names the file: send it with the next call. Empty if there is no log.' },
});
export type AgentLogPart = ValueOf<typeof logPart>;

export const agentLog = operation({
  name: 'agent_log',
  about:
    "A part of what an agent, a shell step or a check has printed, as `baton agent logs` shows it: from a position on, or its last lines. With wait_ms it waits for more: send the answer's `to` and `file` as `from` and `file`.",
  access: ['operator'],
  tool: false,
  input: object({
    id: {
      kind: 'text',
      notEmpty: true,
      optional: true,
      about: 'The id of the agent, or the beginning of it.',
    },
    command_id: {
      kind: 'text',
      pattern: '^[A-Za-z0-9][A-Za-z0-9-]*(\\.[A-Za-z0-9][A-Za-z0-9-]*)*$',
      expected: 'the id of a command',
      optional: true,
      about: 'Instead: a command of a shell step or a gate; of check number N from 0, `CHECKS_ID.N`.',
    },
    from: optional(count, 'Only what follows this position; within a line, the next line. Left out: the last lines.'),
    to: optional(count, 'Only what precedes this position; without `from`: the last lines before it.'),
    to_lines: {
      kind: 'number',
      min: 1,
      max: LOG_LIMITS.mostLines,
      whole: true,
      optional: true,
      about: `Without \`from\`: at least this many lines, if the log has them; ${LOG_LIMITS.lines} if left out.`,
    },
    limit_bytes: {
      kind: 'number',
      min: 1,
      max: LOG_LIMITS.mostBytes,
      whole: true,
      optional: true,
      about: 'At most this much of the log, but at least one line; 256 KiB if left out.',
    },
    raw: optional(flag, 'The bytes of the log as text, with terminal codes and the JSON of a client.'),
    wait_ms: {
      kind: 'number',
      min: 0,
      max: 20_000,
      whole: true,
      optional: true,
      about: 'With `from`: wait at most this long, in milliseconds, for a whole line; you are woken, never poll.',
    },
    file: optional(text, '`file` of the last answer, if `from` is its `to`.'),
  }),
  result: logPart,
});
