import type { Phase } from '../../protocol/phase.ts';
import type { Price } from '../../protocol/price.ts';
import type { BudgetPlan } from '../../protocol/run-plan.ts';
import type { EitherShape, MapShape, ObjectShape, Shape, TextShape, ValueOf } from '../../protocol/shape/shape.ts';
import { countField, durationField, flagField, optional, parseDuration, parseMillicents } from './fields.ts';

const dollars = {
  kind: 'text',
  pattern: '^\\$?[0-9]{1,6}(\\.[0-9]{1,5})?$',
  expected: 'dollars such as $2.50',
} as const satisfies TextShape;

/** A price may be zero. A budget may not: it is raised by its own amount. */
const someDollars = {
  ...dollars,
  pattern: '^\\$?(?![0.]*$)[0-9]{1,6}(\\.[0-9]{1,5})?$',
  expected: 'dollars such as $2.50, and more than nothing',
} as const satisfies TextShape;

/** The limits before a person is asked. Money is text, because a number would be a binary fraction. */
export const budgetShape = {
  kind: 'object',
  fields: {
    tokens: optional({ kind: 'number', whole: true, min: 1, max: 1e12 }, 'Tokens: input, output and cached together.'),
    cost: optional(someDollars, 'Money, as in "$2.50".'),
    time: optional(durationField, 'Working time, as in "2h"; waiting does not count.'),
  },
} as const satisfies ObjectShape;

export type BudgetValue = ValueOf<typeof budgetShape>;

export function buildBudget({ tokens, cost, time }: BudgetValue): BudgetPlan {
  return {
    ...(tokens === undefined ? {} : { tokens }),
    ...(cost === undefined ? {} : { cost_millicents: parseMillicents(cost) }),
    ...(time === undefined ? {} : { time_ms: parseDuration(time) }),
  };
}

/** For clients that report tokens but no price. */
export const pricesShape = {
  kind: 'map',
  optional: true,
  about:
    'What a million tokens of a model costs, for clients that name no price; `*` at the end of a name is any rest.',
  names: {
    pattern: '^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}\\*?$',
    expected: 'the name of a model, or its beginning and *',
  },
  max: 200,
  of: {
    kind: 'object',
    fields: {
      input: { ...dollars, about: 'A million tokens in, as in "$3".' },
      output: { ...dollars, about: 'A million tokens out.' },
      cached: optional(dollars, 'A million tokens from or into a cache; left out: as those in.'),
    },
  },
} as const satisfies MapShape;

export type PricesValue = ValueOf<typeof pricesShape>;

export function buildPrices(value: PricesValue): Price[] {
  return Object.entries(value).map(([model, { input, output, cached = input }]) => ({
    model,
    input: parseMillicents(input),
    output: parseMillicents(output),
    cached: parseMillicents(cached),
  }));
}

const inPhase = { ...durationField, optional: true } as const satisfies Shape;

const perPhase = {
  DRAFT: inPhase,
  IMPLEMENTATION: inPhase,
  CI_PENDING: inPhase,
  READY_FOR_REVIEW: inPhase,
  REVIEW: inPhase,
  READY_FOR_MERGE: inPhase,
  COMPLETED: inPhase,
  BLOCKED: inPhase,
} as const satisfies Record<Phase, Shape>;

const stall = {
  kind: 'either',
  optional: true,
  expected: 'a duration, or a table of durations by phase',
  about: 'How long a task may stay in a phase before a notification: one duration, or a table by phase.',
  options: [durationField, { kind: 'object', fields: perPhase }],
} as const satisfies EitherShape;

export const limitsShape = {
  kind: 'object',
  optional: true,
  about: 'Times and sizes of this project.',
  fields: {
    claim_expiry: optional(durationField, 'A claim without renewal ends after this; 15m.'),
    renewal: optional(durationField, 'How often a session renews its claim; 30s.'),
    idle: optional(durationField, 'An agent that prints nothing for so long is idle; never.'),
    silence: optional(
      durationField,
      'No output, hook, usage or tool event in a turn for so long opens a decision; 10m.',
    ),
    tool: optional(durationField, 'A tool call that is open for so long opens a decision; 60m.'),
    leave: optional(durationField, 'How long a finished agent may take to exit; 60s.'),
    agents: optional(countField, 'Running agents in total; 50.'),
    blocks: optional(countField, 'Blocked stops of one run, over all its processes, before the agent may stop; 25.'),
    resumes: optional(countField, 'Resumes of one run by its handlers before a person is asked; 5.'),
    review_rounds: optional(countField, 'Rounds of review before a person decides; 3.'),
    kill_after: optional(durationField, 'Between SIGTERM and SIGKILL; 10s.'),
    log_bytes: optional(
      { kind: 'number', whole: true, min: 1024, max: 1_073_741_824 },
      "What is kept of an agent's output; 10485760.",
    ),
    max_files: optional({ kind: 'number', whole: true, min: 0 }, 'How many files a session may change; any number.'),
    no_git_commit: optional(flagField, 'Sessions must not commit; false.'),
    no_new_deps: optional(flagField, 'Sessions must not add dependencies; false.'),
    stall,
    task_budget: optional(budgetShape, 'What all sessions of one task may use before a person is asked.'),
    day_budget: optional(
      budgetShape,
      'What all agents of the project may use in a day (UTC) before a person is asked.',
    ),
  },
} as const satisfies Shape;
