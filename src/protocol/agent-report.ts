import { AGENT_ERRORS } from './run-plan.ts';
import { judgeShape } from './handoff/judge.ts';
import { LIMIT_KINDS, SANDBOX_KINDS } from './sandbox.ts';
import { choice, count, flag, list, nullable, object, optional, text } from './shape/build-shape.ts';
import { defineMessage, type Message } from './shape/message.ts';
import type { Parsed } from './shape/problem.ts';
import type { FieldsOf, ObjectShape } from './shape/shape.ts';
import { parseJsonDocument } from './text/json.ts';

const start = { kind: 'number', min: 1, whole: true, about: 'The number of the process, from 1.' } as const;
const maybeText = nullable(text);

const sandbox = optional(
  object({
    kind: choice(SANDBOX_KINDS),
    network: { ...text, about: '`full`, `host`, `model`, `none`, or the hosts.' },
    limits: { ...choice(LIMIT_KINDS), about: 'What enforces its limits of memory and processes.' },
    notes: { ...list(text), about: 'Protections that it lacks, or access that it has in addition.' },
  }),
  'The sandbox of the process.',
);
const judge = optional(judgeShape, 'What is known about the client of a judging session; absent for other sessions.');
const hosts = optional(
  list(
    object({
      host: text,
      allowed: { ...count, about: 'How many requests were allowed.' },
      refused: { ...count, about: 'How many requests were refused.' },
    }),
  ),
  "How often the process asked Baton's proxy for each host.",
);

export const EXIT_FIELDS = {
  start,
  code: { kind: 'number', whole: true, nullable: true, about: 'The exit code; null if a signal ended it.' },
  signal: { ...maybeText, about: 'The signal of the operating system that ended it.' },
  timed_out: { ...flag, about: 'Baton ended it, because it took longer than its `timeout`.' },
  blocks_used: { ...flag, about: 'The agent was allowed to stop after `limits.blocks` blocked stops.' },
  output: { ...maybeText, about: 'The last few kilobytes of output, without control sequences.' },
  sandbox,
  hosts,
} as const;

export type Exit = FieldsOf<typeof EXIT_FIELDS>;

const FIELDS = {
  started: { start, supervisor: text, process: text, sandbox, judge },
  exited: EXIT_FIELDS,
  /** A person attached to the process from a terminal, or detached. */
  attached: { start, by: text },
  detached: { start, how: { kind: 'choice', values: ['left', 'lost', 'absent', 'ended'] }, talked: flag },
  idle: { why: { kind: 'choice', values: ['stop', 'waiting', 'quiet'] } },
  stop: {},
  blocked: { blocks: { ...count, about: 'How many stops of the run were blocked, this one included.' } },
  silent: {
    start,
    what: { kind: 'choice', values: ['turn', 'tool'], about: 'No event in a turn, or a tool call that stays open.' },
    for_ms: count,
    tool: maybeText,
  },
  /** An agent that was reported silent produced output again. */
  heard: { start },
  prompted: { prompt: text },
  /** Totals over all processes of the agent. */
  used: {
    conversation_id: maybeText,
    model: maybeText,
    input_tokens: count,
    output_tokens: count,
    cached_tokens: count,
    cost_millicents: { ...count, nullable: true },
    turns: count,
    waiting_tokens: count,
    open_input_tokens: { ...count, about: 'The open tokens: those that the client has named no price for.' },
    open_output_tokens: count,
    open_cached_tokens: count,
    unpriced_tokens: { ...count, about: 'Open tokens of turns that are over: the client will name no price.' },
    reserved_input_tokens: { ...count, optional: true, about: 'The most that requests in progress may use.' },
    reserved_output_tokens: { ...count, optional: true },
    reserved_cached_tokens: { ...count, optional: true },
    client_tokens: {
      ...count,
      optional: true,
      about: "All tokens as the client counts them; present if the other figures are Baton's own measurement.",
    },
    is_due: { ...flag, optional: true, about: 'Record it in any case. Otherwise only if a budget moves by a step.' },
  },
  errored: {
    error: { kind: 'choice', values: AGENT_ERRORS },
    message: text,
    reset_at: { kind: 'text', format: 'iso-8601', nullable: true, about: 'When a limit is lifted.' },
  },
} as const satisfies Readonly<Record<string, ObjectShape['fields']>>;

type Kind = keyof typeof FIELDS;
export type AgentReport = { [K in Kind]: { readonly kind: K } & FieldsOf<(typeof FIELDS)[K]> }[Kind];

export const agentReportShape = {
  kind: 'object',
  open: true,
  fields: { kind: { kind: 'choice', values: Object.keys(FIELDS) } },
} as const satisfies ObjectShape;

const TAG = defineMessage({ title: 'Input', shape: agentReportShape, read: parseJsonDocument });

const BY_KIND: ReadonlyMap<string, Message<unknown>> = new Map(
  Object.entries(FIELDS).map(([kind, fields]) => {
    const shape: ObjectShape = { kind: 'object', fields: { kind: { kind: 'choice', values: [kind] }, ...fields } };
    return [kind, defineMessage({ title: 'Input', shape, read: parseJsonDocument })];
  }),
);

export function parseAgentReport(input: unknown): Parsed<AgentReport> {
  const tagged = TAG.parse(input);
  if (!tagged.ok) return tagged;
  // The shape of the kind has checked every field; the assertion only adds the type.
  return BY_KIND.get(tagged.value.kind)?.parse(tagged.value) as Parsed<AgentReport>; // oxlint-disable-line typescript/no-unsafe-type-assertion
}
