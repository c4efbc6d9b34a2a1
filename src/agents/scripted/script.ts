import { AGENT_ERRORS } from '../../protocol/run-plan.ts';
import { EXIT_REASONS, PHASES } from '../../protocol/phase.ts';
import type { Shape, ValueOf } from '../../protocol/shape/shape.ts';

/** Everything that a scripted agent can do, as shapes: what each step takes, and a sentence for people. */
export const STEPS = {
  say: { kind: 'text', about: 'Words of the agent itself; an exit signal in them counts.' },
  run: { kind: 'text', about: 'A command for the shell, as a tool call.' },
  write: {
    kind: 'object',
    about: 'Writes a file, as a tool call.',
    fields: {
      path: { kind: 'text', notEmpty: true, about: 'Relative to where the agent works.' },
      text: { kind: 'text', about: 'All of its content.' },
    },
  },
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
    about: 'Uses so many tokens, as the model does; `cost` in dollars.',
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
  print: { kind: 'text', about: 'Prints this as it stands, whatever the format of the output is.' },
  flood: { kind: 'number', min: 1, whole: true, about: 'Prints so many bytes.' },
  fork: {
    kind: 'object',
    about: 'Leaves a command running: alone, or as `run` with `setsid: true` for one that leaves the process group.',
    fields: { run: { kind: 'text', notEmpty: true }, setsid: { kind: 'flag', optional: true } },
  },
  ignore: { kind: 'choice', values: ['SIGTERM', 'SIGINT', 'SIGHUP'], about: 'From now on this signal does nothing.' },
} as const satisfies Readonly<Record<string, Shape>>;

/** Steps that take nothing. */
export const STEPS_WITHOUT_INPUT = ['stop', 'wait', 'hang', 'crash'] as const;

/** The field that a text alone stands for. */
export const SHORTHAND_FIELDS: Readonly<Record<string, string>> = {
  signal: 'kind',
  exit: 'phase',
  error: 'kind',
  fork: 'run',
  use: 'input',
};

type Bare = (typeof STEPS_WITHOUT_INPUT)[number];

export type ScriptStep =
  | {
      readonly [K in keyof typeof STEPS]: { readonly do: K; readonly with: ValueOf<(typeof STEPS)[K]> };
    }[keyof typeof STEPS]
  | { readonly [K in Bare]: { readonly do: K; readonly with?: undefined } }[Bare];

export interface Script {
  readonly steps: readonly ScriptStep[];
  /** Played whenever a stop is blocked, before the next try; left out: the script goes on behind the stop. */
  readonly onBlock: readonly ScriptStep[] | undefined;
  /** Played for each message that comes after the last step. */
  readonly onMessage: readonly ScriptStep[];
}
