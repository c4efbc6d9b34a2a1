import type { Phase } from '../../protocol/phase.ts';
import type { EitherShape, Shape } from '../../protocol/shape/shape.ts';
import { budgetShape } from './budget-shape.ts';
import { countField, durationField } from './fields.ts';

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
  about: 'How long a task may stay in a phase before somebody is told: one duration, or a table by phase.',
  options: [durationField, { kind: 'object', fields: perPhase }],
} as const satisfies EitherShape;

export const limitsShape = {
  kind: 'object',
  optional: true,
  about: 'Times and sizes of this project.',
  fields: {
    claim_expiry: { ...durationField, optional: true, about: 'A claim that nobody renews ends after this; 15m.' },
    renewal: { ...durationField, optional: true, about: 'How often a session renews its claim; 30s.' },
    idle: { ...durationField, optional: true, about: 'An agent that prints nothing for so long is idle; never.' },
    silence: {
      ...durationField,
      optional: true,
      about: 'No output, hook, usage or tool event in a turn for so long opens a decision; 10m.',
    },
    tool: { ...durationField, optional: true, about: 'A tool call that is open for so long opens a decision; 60m.' },
    leave: {
      ...durationField,
      optional: true,
      about: 'How long an agent that nobody waits for may take to leave; 60s.',
    },
    agents: { ...countField, optional: true, about: 'Agents at work at once, all together; 50.' },
    blocks: {
      ...countField,
      optional: true,
      about: 'Blocked stops of one run, over all its processes, before the agent is let go; 25.',
    },
    resumes: {
      ...countField,
      optional: true,
      about: 'Resumes of one run by its handlers before a person is asked; 5.',
    },
    review_rounds: { ...countField, optional: true, about: 'Rounds of review before a person decides; 3.' },
    kill_after: { ...durationField, optional: true, about: 'Between SIGTERM and SIGKILL; 10s.' },
    log_bytes: {
      kind: 'number',
      whole: true,
      min: 1024,
      max: 1_073_741_824,
      optional: true,
      about: "What is kept of an agent's output; 10485760.",
    },
    max_files: {
      kind: 'number',
      whole: true,
      min: 0,
      optional: true,
      about: 'How many files a session may change; any number.',
    },
    no_git_commit: { kind: 'flag', optional: true, about: 'Sessions must not commit; false.' },
    no_new_deps: { kind: 'flag', optional: true, about: 'Sessions must not add dependencies; false.' },
    stall,
    task_budget: {
      ...budgetShape,
      optional: true,
      about: 'What all sessions of one task may use before a person is asked.',
    },
    day_budget: {
      ...budgetShape,
      optional: true,
      about: 'What all agents of the project may use in a day (UTC) before a person is asked.',
    },
  },
} as const satisfies Shape;
