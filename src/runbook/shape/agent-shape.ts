import { REQUIREMENTS } from '../../protocol/run-plan.ts';
import type { ObjectShape } from '../../protocol/shape/shape.ts';
import { budgetShape } from './budget-shape.ts';
import {
  commandField,
  countField,
  durationField,
  environmentField,
  environmentPassField,
  referenceField,
} from './fields.ts';
import { HANDLER_SHAPES } from './handler-shape.ts';

export const agentShape = {
  kind: 'object',
  about: 'A program that works: which one, with which prompt, and what happens when it stops.',
  fields: {
    run: {
      ...commandField,
      optional: true,
      about: '`claude`, `codex`, `gemini`, `scripted FILE`, `builtin:ROLE`, or a command for the shell.',
    },
    prompt: { kind: 'text', notEmpty: true, optional: true, about: 'What it is told first; templates are filled in.' },
    prompt_file: {
      kind: 'text',
      notEmpty: true,
      optional: true,
      about: 'A file with the prompt, relative to the project; templates in it are filled in.',
    },
    role: { ...referenceField, optional: true, about: 'The role it works in, as in `implementer`.' },
    env: environmentField,
    env_pass: environmentPassField,
    cwd: {
      kind: 'text',
      notEmpty: true,
      optional: true,
      about: 'Where it runs, relative to the project or the workspace.',
    },
    model: { kind: 'text', notEmpty: true, optional: true, about: 'The model, by the name the client knows.' },
    ...HANDLER_SHAPES,
    max_concurrency: { ...countField, optional: true, about: 'How many of this agent may run at once.' },
    budget: { ...budgetShape, optional: true, about: 'What a run of it may use before a person is asked.' },
    timeout: { ...durationField, optional: true, about: 'How long a run may take, as in "2h".' },
    requires: {
      kind: 'list',
      optional: true,
      of: { kind: 'choice', values: REQUIREMENTS },
      about: `What it owes before it may complete, of: ${REQUIREMENTS.join(', ')}.`,
    },
  },
} as const satisfies ObjectShape;
