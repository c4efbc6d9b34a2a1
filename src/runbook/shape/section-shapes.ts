import type { ObjectShape } from '../../protocol/shape/shape.ts';
import { budgetShape } from './budget-shape.ts';
import { durationField, NAME_RULE, pauseField, referenceField, runnableField, variablesField } from './fields.ts';
import { RUNBOOK_LIMITS } from './limits.ts';

const step = {
  kind: 'object',
  fields: {
    name: { kind: 'text', ...NAME_RULE, about: 'The name of the step, once in its pipeline.' },
    run: runnableField,
    on_done: { ...referenceField, optional: true, about: 'The next step; left out: the one below, or the end.' },
    on_fail: {
      kind: 'either',
      optional: true,
      expected: 'the name of a step, or { step = "NAME", retries = 2, cooldown = "5s" }',
      about: 'The step that follows a failure, or tries before it; left out: the pipeline fails.',
      options: [
        referenceField,
        {
          kind: 'object',
          fields: {
            step: { ...referenceField, optional: true, about: 'The step that follows; left out: the pipeline fails.' },
            retries: {
              kind: 'number',
              whole: true,
              min: 1,
              max: 100,
              optional: true,
              about: 'More tries of this step.',
            },
            cooldown: { ...pauseField, optional: true, about: 'The time between two tries.' },
          },
        },
      ],
    },
    on_cancel: {
      ...referenceField,
      optional: true,
      about: 'The step that follows a cancellation; left out: the pipeline ends.',
    },
    timeout: { ...durationField, optional: true, about: 'How long it may take, as in "10m"; then it has failed.' },
    workspace: {
      kind: 'object',
      optional: true,
      about: 'A git worktree of its own, for this step and those that follow.',
      fields: {
        branch: { kind: 'text', notEmpty: true, about: 'Its branch; templates are filled in.' },
        base: {
          kind: 'text',
          notEmpty: true,
          optional: true,
          about: 'Where the branch begins; left out: the main branch.',
        },
      },
    },
    notify: { kind: 'flag', optional: true, about: 'Whether people are told how this step ended.' },
  },
} as const satisfies ObjectShape;

export const pipelineShape = {
  kind: 'object',
  about: 'Steps, one after the other.',
  fields: {
    vars: variablesField,
    steps: { kind: 'list', of: step, min: 1, max: RUNBOOK_LIMITS.steps, about: 'The steps, in order; at least one.' },
    budget: {
      ...budgetShape,
      optional: true,
      about: 'What a run of it, with all agents and pipelines inside it, may use before a person is asked.',
    },
    notify: { kind: 'flag', optional: true, about: 'Whether people are told how it ended.' },
  },
} as const satisfies ObjectShape;
