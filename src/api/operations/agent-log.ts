import { choice, count, flag, list, nullable, object, optional, text } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { operation } from './operation.ts';

/** How much of a log one call reads. */
export const LOG_LIMITS = { lines: 200, mostLines: 5000, bytes: 256 * 1024, mostBytes: 1024 * 1024 } as const;

const logPart = object({
  agent_id: { ...nullable(text), about: 'Null for a command.' },
  format: {
    ...choice(['text', 'stream-json', 'codex', 'gemini', 'acp']),
    about: 'The format of the output: plain text, or the JSON lines of a client.',
  },
  text: { ...text, about: 'Whole lines, each with its line break.' },
  kinds: {
    ...list(choice(['text', 'dim', 'tool', 'result', 'bad', 'call', 'raw'])),
    about: 'How to show each line of `text`; `raw` is an unchanged line of the log. Empty if the input has `raw`.',
  },
  from: { ...count, about: 'Where `text` begins in the log, in bytes.' },
  to: { ...count, about: 'Where `text` ends: the `from` of the next call.' },
  size: { ...count, about: 'The size of the log, in bytes.' },
  printed_at: { ...nullable(text), about: 'When the program last wrote to the log; null if there is no log.' },
  ended: { ...flag, about: 'The log is complete.' },
  is_cut: {
    ...flag,
    about: 'The middle of a long output was removed since `file`, so `text` is the end of the log.',
  },
  file: { ...text, about: 'Identifies the file: send it with the next call. Empty if there is no log.' },
});
export type AgentLogPart = ValueOf<typeof logPart>;

export const agentLog = operation({
  name: 'agent_log',
  about:
    'Read a part of the output of an agent, a shell step or a check, as `baton agent logs` shows it: from a position on, or the last lines. To wait for more output, send `wait_ms`, and `to` and `file` of the last answer as `from` and `file`.',
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
      about:
        'Instead of `id`: the id of the command of a shell step or a gate, or `CHECKS_ID.N` for check number N, from 0.',
    },
    from: optional(
      count,
      'Only output after this position; if it is within a line, from the next line on. Left out: the last lines.',
    ),
    to: optional(count, 'Only output before this position; without `from`: the last lines before it.'),
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
    raw: optional(flag, 'Return the unchanged text of the log, with terminal codes and the JSON of a client.'),
    wait_ms: {
      kind: 'number',
      min: 0,
      max: 20_000,
      whole: true,
      optional: true,
      about: 'With `from`: wait at most this long, in milliseconds, for a whole line. Do not poll.',
    },
    file: optional(text, '`file` of the last answer, if `from` is its `to`.'),
  }),
  result: logPart,
});
