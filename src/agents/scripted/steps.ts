import { EXIT_REASONS, PHASES } from '../../protocol/phase.ts';
import { AGENT_ERRORS } from '../../protocol/run-plan.ts';
import type { Shape, ValueOf } from '../../protocol/shape/shape.ts';

/** The steps of a scripted agent: the fields of each step, and a sentence that describes it. */
export const STEPS = {
  say: { kind: 'text', about: 'Text of the agent itself; an exit signal in it counts.' },
  run: { kind: 'text', about: 'A command for the shell, as a tool call.' },
  write: {
    kind: 'object',
    about: 'Writes a file, as a tool call.',
    fields: {
      path: { kind: 'text', notEmpty: true, about: "Relative to the agent's working directory." },
      text: { kind: 'text', about: 'The whole content.' },
    },
  },
  read: { kind: 'text', notEmpty: true, about: 'Reads a file, as a tool call.' },
  commit: { kind: 'text', notEmpty: true, about: 'Commits everything with this message, as a tool call.' },
  signal: {
    kind: 'object',
    about: '`baton emit agent:signal`: complete, escalate or continue, alone or as `kind` with a `message`.',
    fields: {
      kind: { kind: 'choice', values: ['complete', 'escalate', 'continue'] },
      message: { kind: 'text', optional: true },
    },
  },
  exit: {
    kind: 'object',
    about: '`baton emit exit`: the phase that is completed, alone or with `reason`, `notes`, `pr_url`, `evidence`.',
    fields: {
      phase: { kind: 'choice', values: PHASES },
      reason: { kind: 'choice', values: EXIT_REASONS, optional: true },
      notes: { kind: 'text', optional: true },
      pr_url: { kind: 'text', optional: true },
      evidence: { kind: 'text', optional: true },
    },
  },
  handoff: { kind: 'text', notEmpty: true, about: '`baton handoff send FILE`.' },
  thought: { kind: 'text', notEmpty: true, about: '`baton thought record FILE`.' },
  result: { kind: 'text', notEmpty: true, about: '`baton result submit FILE`.' },
  use: {
    kind: 'object',
    about: 'Reports this usage of tokens; `cost` in dollars.',
    fields: {
      input: { kind: 'number', min: 0, whole: true, optional: true },
      output: { kind: 'number', min: 0, whole: true, optional: true },
      cached: { kind: 'number', min: 0, whole: true, optional: true },
      cost: {
        kind: 'text',
        optional: true,
        pattern: '^\\$?[0-9]+(\\.[0-9]{1,5})?$',
        expected: 'dollars such as $0.25',
      },
    },
  },
  plan: {
    kind: 'list',
    about: 'Shows a plan: texts, or `content` with a `status` and a `priority`.',
    of: {
      kind: 'either',
      expected: 'a text, or content with a status and a priority',
      options: [
        { kind: 'text', notEmpty: true },
        {
          kind: 'object',
          fields: {
            content: { kind: 'text', notEmpty: true },
            status: { kind: 'choice', values: ['pending', 'in_progress', 'completed'], optional: true },
            priority: { kind: 'choice', values: ['high', 'medium', 'low'], optional: true },
          },
        },
      ],
    },
  },
  mode: { kind: 'text', notEmpty: true, about: 'Changes to this mode, such as `plan`.' },
  ask: { kind: 'text', about: 'Shows a permission prompt, and waits for the answer.' },
  error: {
    kind: 'object',
    about: 'The turn ends with an API error: a kind, alone or with a `message` and a `reset_at`.',
    fields: {
      kind: { kind: 'choice', values: AGENT_ERRORS },
      message: { kind: 'text', optional: true },
      reset_at: { kind: 'text', format: 'iso-8601', optional: true },
    },
  },
  crash: {
    kind: 'number',
    min: 0,
    max: 255,
    whole: true,
    about: 'Ends at once, with this exit code; alone, with SIGKILL.',
  },
  print: { kind: 'text', about: 'Prints this unchanged, whatever the output format is.' },
  flood: {
    kind: 'object',
    about: 'Prints this many `bytes`, alone or as a field; with ACP also this many `updates` of the session.',
    fields: {
      bytes: { kind: 'number', min: 1, whole: true, optional: true },
      updates: { kind: 'number', min: 1, whole: true, optional: true },
    },
  },
  fork: {
    kind: 'object',
    about: 'Leaves a command running: alone, or as `run` with `setsid: true` for one that leaves the process group.',
    fields: { run: { kind: 'text', notEmpty: true }, setsid: { kind: 'flag', optional: true } },
  },
  ignore: {
    kind: 'choice',
    values: ['SIGTERM', 'SIGINT', 'SIGHUP', 'cancel'],
    about: 'Ignores this signal from now on; with ACP also `cancel`.',
  },
  rpc: {
    kind: 'any',
    about: 'With ACP: sends this message unchecked, as one line; a text is sent as it is.',
  },
} as const satisfies Readonly<Record<string, Shape>>;

export const STEPS_WITHOUT_INPUT = ['stop', 'wait', 'hang', 'crash'] as const;

/** For each step, the field that a plain text sets. */
export const SHORTHAND_FIELDS: Readonly<Record<string, string>> = {
  signal: 'kind',
  exit: 'phase',
  error: 'kind',
  flood: 'bytes',
  fork: 'run',
  use: 'input',
};

export type Bare = (typeof STEPS_WITHOUT_INPUT)[number];

export type ScriptStep =
  | {
      readonly [K in keyof typeof STEPS]: { readonly do: K; readonly with: ValueOf<(typeof STEPS)[K]> };
    }[keyof typeof STEPS]
  | { readonly [K in Bare]: { readonly do: K; readonly with?: undefined } }[Bare];

/** Why a step needs ACP; undefined if it works with every face. */
export function needsAcp(step: ScriptStep): string | undefined {
  switch (step.do) {
    case 'rpc':
      return 'rpc';
    case 'flood':
      return step.with.updates === undefined ? undefined : 'flood.updates';
    case 'ignore':
      return step.with === 'cancel' ? 'ignore: cancel' : undefined;
    default:
      return undefined;
  }
}
