import { MAX_BLOCKS } from '../../protocol/decide-stop.ts';
import { DEFAULT_TASK_LIMITS } from '../../protocol/limits.ts';
import { type Phase, PHASES } from '../../protocol/phase.ts';
import type { Price } from '../../protocol/price.ts';
import type { BudgetPlan } from '../../protocol/run-plan.ts';
import type { EitherShape, MapShape, ObjectShape, Shape, TextShape, ValueOf } from '../../protocol/shape/shape.ts';
import { countField, durationField, flagField, optional, parseDuration, parseMillicents } from './fields.ts';

const dollars = {
  kind: 'text',
  pattern: '^\\$?[0-9]{1,6}(\\.[0-9]{1,5})?$',
  expected: 'dollars such as $2.50',
} as const satisfies TextShape;

/** Dollars above zero. A price may be zero, but a budget may not, since it is raised by its own amount. */
const someDollars = {
  ...dollars,
  pattern: '^\\$?(?![0.]*$)[0-9]{1,6}(\\.[0-9]{1,5})?$',
  expected: 'dollars such as $2.50, and more than nothing',
} as const satisfies TextShape;

/** The limits at which a person is asked. Money is text, because a number would be a binary fraction. */
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

/** Prices for clients that report tokens but no cost. */
export const pricesShape = {
  kind: 'map',
  optional: true,
  about:
    'What a million tokens of a model cost, for clients that report no price; `*` at the end of a name matches any rest.',
  names: {
    pattern: '^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}\\*?$',
    expected: 'the name of a model, or its beginning and *',
  },
  max: 200,
  of: {
    kind: 'object',
    fields: {
      input: { ...dollars, about: 'A million input tokens, as in "$3".' },
      output: { ...dollars, about: 'A million output tokens.' },
      cached: optional(dollars, 'A million cached tokens; left out: the price of input.'),
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

const zeroOrMore = { kind: 'number', whole: true, min: 0 } as const satisfies Shape;

export const limitsShape = {
  kind: 'object',
  optional: true,
  about: 'Limits of this project.',
  fields: {
    claim_expiry: optional(durationField, 'A claim without renewal ends after this; default: 15m.'),
    renewal: optional(durationField, 'How often a session renews its claim; default: 30s.'),
    idle: optional(durationField, 'An agent that prints nothing for this time is idle; default: never.'),
    silence: optional(
      durationField,
      'After this time in a turn without output, hook, usage or tool event, Baton asks a person; default: 10m.',
    ),
    tool: optional(durationField, 'If a tool call takes longer than this, Baton asks a person; default: 60m.'),
    leave: optional(durationField, 'How long a finished agent may take to exit; default: 60s.'),
    agents: optional(countField, 'How many agents may run at once; default: 50.'),
    blocks: optional(
      countField,
      'How many stops of one run Baton blocks, over all its processes, before the agent may stop; default: 25.',
    ),
    resumes: optional(countField, 'How often handlers resume one run before Baton asks a person; default: 5.'),
    review_rounds: optional(countField, 'How many rounds of review a task has before a person decides; default: 3.'),
    kill_after: optional(durationField, 'The time from SIGTERM to SIGKILL; default: 10s.'),
    log_bytes: optional(
      { kind: 'number', whole: true, min: 1024, max: 1_073_741_824 },
      "How many bytes of an agent's output Baton keeps; default: 10485760.",
    ),
    max_files: optional(
      { kind: 'number', whole: true, min: 0 },
      'How many files a session may change; default: any number.',
    ),
    no_git_commit: optional(flagField, 'Whether sessions are forbidden to commit; default: false.'),
    no_new_deps: optional(flagField, 'Whether sessions are forbidden to add dependencies; default: false.'),
    tasks: {
      kind: 'object',
      optional: true,
      about: 'What sessions may create below one task of a person before Baton asks a person.',
      fields: {
        number: optional(zeroOrMore, `How many tasks, over all sessions; default: ${DEFAULT_TASK_LIMITS.number}.`),
        depth: optional(
          zeroOrMore,
          `How deep tasks of tasks may be: 1 if only the task of the person may have any; default: ${DEFAULT_TASK_LIMITS.depth}.`,
        ),
      },
    },
    stall,
    task_budget: optional(budgetShape, 'What all sessions of one task may use before Baton asks a person.'),
    day_budget: optional(
      budgetShape,
      'What all agents of the project may use in a day (UTC) before Baton asks a person.',
    ),
  },
} as const satisfies Shape;

type LimitsValue = ValueOf<typeof limitsShape>;

export function buildLimits(value: LimitsValue) {
  const ms = (text: string | undefined, otherwise: number): number =>
    text === undefined ? otherwise : parseDuration(text);
  return {
    claimExpiryMs: ms(value.claim_expiry, 15 * 60_000),
    renewalMs: ms(value.renewal, 30_000),
    /** Undefined if only the agent's own report counts. */
    idleMs: value.idle === undefined ? undefined : parseDuration(value.idle),
    silenceMs: ms(value.silence, 10 * 60_000),
    toolMs: ms(value.tool, 60 * 60_000),
    leaveMs: ms(value.leave, 60_000),
    agents: value.agents ?? 50,
    blocks: value.blocks ?? MAX_BLOCKS,
    resumes: value.resumes ?? 5,
    reviewRounds: value.review_rounds ?? 3,
    tasks: {
      number: value.tasks?.number ?? DEFAULT_TASK_LIMITS.number,
      depth: value.tasks?.depth ?? DEFAULT_TASK_LIMITS.depth,
    },
    killAfterMs: ms(value.kill_after, 10_000),
    logBytes: value.log_bytes ?? 10 * 1024 * 1024,
    maxFiles: value.max_files,
    noGitCommit: value.no_git_commit ?? false,
    noNewDeps: value.no_new_deps ?? false,
    stallMs: stallOf(value.stall),
    taskBudget: value.task_budget && buildBudget(value.task_budget),
    dayBudget: value.day_budget && buildBudget(value.day_budget),
  } as const;
}

export const DEFAULT_LIMITS = buildLimits({});

/** Returns the stall limit of each phase. A single duration applies to every phase with expected work. */
function stallOf(stall: LimitsValue['stall']): Readonly<Partial<Record<Phase, number>>> {
  const given = PHASES.map((phase) => [phase, typeof stall === 'string' ? stall : stall?.[phase]] as const);
  const isActive = (phase: Phase): boolean => typeof stall !== 'string' || !/^(?:COMPLETED|BLOCKED)$/.test(phase);
  const set = given.flatMap(([phase, text]) => (text !== undefined && isActive(phase) ? [[phase, text] as const] : []));
  return Object.fromEntries(set.map(([phase, text]) => [phase, parseDuration(text)]));
}
