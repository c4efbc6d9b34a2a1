import {
  ACP_PERMISSIONS,
  ACP_PRESET_NAMES,
  AGENT_ERRORS,
  MODEL_CLIENT_NAMES,
  HANDLER_NAMES,
  HANDLERS,
  type HandlerName,
  REQUIREMENTS,
} from '../../protocol/run-plan.ts';
import type { ChoiceShape, EitherShape, ObjectShape, Shape } from '../../protocol/shape/shape.ts';
import { networkField, sandboxField } from './access-shape.ts';
import {
  commandField,
  countField,
  durationField,
  environmentField,
  environmentPassField,
  flagField,
  optional,
  pauseField,
  referenceField,
  textField,
} from './fields.ts';
import { budgetShape } from './limits-shape.ts';

const attempts = {
  kind: 'either',
  optional: true,
  expected: 'a whole number from 1 to 1000, or "forever"',
  about: 'How often the handler acts before Baton asks a person: a number, or "forever"; default: 1.',
  options: [
    { kind: 'number', whole: true, min: 1, max: 1000 },
    { kind: 'choice', values: ['forever'] },
  ],
} as const satisfies EitherShape;

const OPTIONS = {
  message: optional(textField, 'The message to the agent or the person.'),
  attempts,
  cooldown: optional(pauseField, 'The time between two tries.'),
  run: optional(commandField, 'The command of a gate; exit code 0 means done.'),
  timeout: optional(durationField, 'How long the command of a gate may take.'),
  append: optional(flagField, 'Adds the message to the prompt instead of replacing it.'),
} as const satisfies Readonly<Record<string, Shape>>;

function choiceOf<const V extends readonly string[]>(values: V) {
  return { kind: 'choice', values, about: `One of: ${values.join(', ')}.` } as const satisfies ChoiceShape;
}

function objectOf<const V extends readonly string[]>(values: V) {
  const fields = { action: choiceOf(values), ...OPTIONS } as const;
  return { kind: 'object', mark: 'action', fields } as const satisfies ObjectShape;
}

/** Accepts `on_idle = "nudge"` and `on_idle = { action = "nudge", … }`. */
function handler<const V extends readonly string[]>(values: V, about: string) {
  return {
    kind: 'either',
    optional: true,
    expected: `${values.map((value) => `"${value}"`).join(', ')}, or a table with such an action`,
    about: `${about}: ${values.join(', ')}.`,
    options: [choiceOf(values), objectOf(values)],
  } as const satisfies EitherShape;
}

const { actions: errorActions, about: aboutErrors } = HANDLERS.on_error;
const one = handler(errorActions, 'What to do about this error');

/** One handler for all errors, or one per kind; `any` covers the others. */
const onError = {
  kind: 'either',
  optional: true,
  expected: `${errorActions.map((value) => `"${value}"`).join(', ')}, a table with such an action, or a table by kind of error`,
  about: `${aboutErrors}: ${errorActions.join(', ')}; or a table by kind of error: ${AGENT_ERRORS.join(', ')}, any.`,
  options: [
    choiceOf(errorActions),
    objectOf(errorActions),
    {
      kind: 'object',
      fields: { unauthorized: one, out_of_credits: one, no_internet: one, rate_limited: one, any: one },
    },
  ],
} as const satisfies EitherShape;

type HandlerShapes = {
  readonly [H in HandlerName]: H extends 'on_error'
    ? typeof onError
    : ReturnType<typeof handler<(typeof HANDLERS)[H]['actions']>>;
};

// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const HANDLER_SHAPES = Object.fromEntries(
  HANDLER_NAMES.map((name) => {
    const { actions, about } = HANDLERS[name];
    return [name, name === 'on_error' ? onError : handler(actions, about)];
  }),
) as HandlerShapes;

export const agentShape = {
  kind: 'object',
  about: 'A program that works: which one, with which prompt, and what happens when it stops.',
  fields: {
    run: optional(
      commandField,
      `${[...MODEL_CLIENT_NAMES, ...ACP_PRESET_NAMES, 'acp:COMMAND', 'scripted FILE', 'builtin:ROLE'].map((name) => `\`${name}\``).join(', ')}, or a command for the shell.`,
    ),
    prompt: optional(textField, 'The first message; templates are filled in.'),
    prompt_file: optional(textField, 'A file with the prompt, relative to the project; templates in it are filled in.'),
    role: optional(referenceField, 'The role of the agent in a workflow, as in `implementer`.'),
    env: environmentField,
    env_pass: environmentPassField,
    sandbox: sandboxField,
    network: networkField,
    cwd: optional(textField, 'The folder in which the agent runs, relative to the project or the workspace.'),
    model: optional(textField, 'The model, by the name the client knows.'),
    ...HANDLER_SHAPES,
    max_concurrency: optional(countField, 'How many of this agent may run at once.'),
    budget: optional(budgetShape, 'What one run may use before Baton asks a person.'),
    timeout: optional(durationField, 'How long a run may take, as in "2h".'),
    requires: optional(
      { kind: 'list', of: { kind: 'choice', values: REQUIREMENTS } },
      `The messages that the agent must send before it may complete, of: ${REQUIREMENTS.join(', ')}.`,
    ),
    acp: optional(
      {
        kind: 'object',
        fields: {
          permissions: optional(
            { kind: 'choice', values: ACP_PERMISSIONS },
            'What follows a request for permission: `ask` runs `on_prompt`, `allow` grants it. Default: `allow` for a preset, `ask` for a command.',
          ),
          files: optional(
            flagField,
            'Whether Baton reads and writes files for the agent, in its sandbox. Default: true.',
          ),
          terminals: optional(flagField, 'Whether Baton runs commands for the agent, in its sandbox. Default: true.'),
          mode: optional(textField, 'The mode of its session, by the name that the agent knows.'),
        },
      },
      'Settings of an ACP agent.',
    ),
  },
} as const satisfies ObjectShape;
