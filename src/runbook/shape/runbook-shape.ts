import { PHASES } from '../../protocol/phase.ts';
import { jsonSchemaOf, type ObjectShape, type Shape, type ValueOf } from '../../protocol/shape/shape.ts';
import { MERGE_METHODS, NOTIFICATION_KINDS, WORKFLOW_MODES } from '../runbook.ts';
import { agentShape } from './agent-shape.ts';
import {
  commandField,
  countField,
  definitionsField,
  durationField,
  environmentPassField,
  referenceField,
  runnableField,
} from './fields.ts';
import { limitsShape, pricesShape } from './limits-shape.ts';
import { githubShape, pipelineShape, rolesShape, workspaceShape } from './section-shapes.ts';

const commandShape = {
  kind: 'object',
  about: 'Something to start by name: `baton run NAME`.',
  fields: {
    args: {
      kind: 'text',
      optional: true,
      about: 'What it takes, as in "<title> [body] --dry-run [--priority <n>]"; each is a variable.',
    },
    run: runnableField,
  },
} as const satisfies ObjectShape;

const workerShape = {
  kind: 'object',
  about: 'Claims tasks by itself, and runs something on each.',
  fields: {
    tasks: {
      kind: 'list',
      optional: true,
      min: 1,
      of: { kind: 'text', pattern: '^[A-Za-z0-9*][A-Za-z0-9._*-]{0,63}$', expected: 'a task id, with * for any part' },
      about: 'Ids of the tasks it takes; `*` is any part, as in "P0.*".',
    },
    phases: {
      kind: 'list',
      optional: true,
      min: 1,
      of: { kind: 'choice', values: PHASES },
      about: `The phases it takes tasks in, of: ${PHASES.join(', ')}.`,
    },
    roles: { kind: 'list', optional: true, min: 1, of: referenceField, about: 'The roles whose turn it must be.' },
    run: runnableField,
    workflow: {
      kind: 'flag',
      optional: true,
      about: 'true: only tasks of a workflow, when it is the turn of one of its roles.',
    },
    concurrency: { ...countField, optional: true, about: 'How many tasks at once; 1 where it is left out.' },
  },
} as const satisfies ObjectShape;

const ciShape = {
  kind: 'object',
  optional: true,
  about: 'The checks between CI_PENDING and READY_FOR_REVIEW.',
  fields: {
    required: {
      kind: 'list',
      optional: true,
      about: 'The checks that must pass. An empty list says that nothing is checked.',
      of: {
        kind: 'object',
        fields: {
          name: { kind: 'text', notEmpty: true, about: 'The name of the check.' },
          run: { ...commandField, optional: true, about: 'Its command; left out: a workflow of that name reports it.' },
          timeout: { ...durationField, optional: true, about: 'How long it may take, as in "10m".' },
          env_pass: environmentPassField,
        },
      },
    },
    protected: {
      kind: 'list',
      optional: true,
      max: 200,
      about:
        'Paths that decide how work is checked: a branch that changes one is merged after a person agreed. They add to the built-in list; `!` before a pattern takes one out, `#key` after it means only that part of a JSON or TOML file.',
      of: { kind: 'text', notEmpty: true, pattern: '^!?/?[^\\s/!].*$', expected: 'a path or pattern such as "ci/**"' },
    },
  },
} as const satisfies Shape;

const mergeShape = {
  kind: 'object',
  optional: true,
  about: 'Merging through Baton.',
  fields: {
    method: { kind: 'choice', values: MERGE_METHODS, optional: true, about: 'squash where it is left out.' },
    into: {
      kind: 'text',
      format: 'git-ref',
      notEmpty: true,
      optional: true,
      expected: 'a branch',
      about: 'The branch.',
    },
  },
} as const satisfies Shape;

const gitShape = {
  kind: 'object',
  optional: true,
  about: 'How Baton uses git.',
  fields: {
    filters: {
      kind: 'list',
      optional: true,
      max: 50,
      about: 'The git filters that may run when a commit is checked out for its checks, by name, as in ["lfs"].',
      of: {
        kind: 'text',
        notEmpty: true,
        pattern: '^[\\w-]+(?:[.\\w-]*[\\w-])?$',
        expected: 'the name of a filter such as "lfs"',
      },
    },
  },
} as const satisfies Shape;

const workflowShape = {
  kind: 'object',
  optional: true,
  about: 'The built-in workflow: `baton run issue`.',
  fields: {
    mode: {
      kind: 'choice',
      values: WORKFLOW_MODES,
      optional: true,
      about: 'How much of it people want to see; autonomous where it is left out.',
    },
    install: { ...commandField, optional: true, about: 'How `builtin:prep` installs what the project needs.' },
    build: { ...commandField, optional: true, about: 'How it builds.' },
    smoke: { ...commandField, optional: true, about: 'How it sees that what was built works.' },
    validate: {
      kind: 'list',
      optional: true,
      about: 'What `builtin:validator` runs before a merge.',
      of: {
        kind: 'object',
        fields: {
          name: { kind: 'text', notEmpty: true, about: 'As in `test`, `coverage`, `lint`, `type_check`, `security`.' },
          run: { ...commandField, about: 'Its command.' },
          timeout: { ...durationField, optional: true, about: 'How long it may take, as in "10m".' },
        },
      },
    },
  },
} as const satisfies Shape;

const notifyShape = {
  kind: 'object',
  optional: true,
  about: 'How people hear of what needs them.',
  fields: {
    desktop: { kind: 'flag', optional: true, about: 'On the desktop; true where it is left out.' },
    terminal: { kind: 'flag', optional: true, about: 'In terminals that watch; true where it is left out.' },
    webhook: {
      kind: 'text',
      optional: true,
      pattern: '^(?:https?://[^\\s/]+|\\$\\{env\\.)\\S*$',
      expected: 'a URL, or a template such as ${env.SLACK_WEBHOOK}',
      about: 'A URL that is sent each notification, as Slack takes them; `${env.X}` keeps it out of the repository.',
    },
    on: {
      kind: 'list',
      optional: true,
      of: { kind: 'choice', values: NOTIFICATION_KINDS },
      about: `What they hear of, of: ${NOTIFICATION_KINDS.join(', ')}; all where it is left out.`,
    },
  },
} as const satisfies Shape;

/** The whole runbook, however many files it is in: the checker and the JSON Schema are made from it. */
export const runbookShape = {
  kind: 'object',
  fields: {
    $schema: { kind: 'text', optional: true, about: 'Where editors find the JSON Schema; Baton does not look at it.' },
    exit_protocol: { kind: 'flag', optional: true, about: 'Whether sessions end with an exit signal.' },
    store: {
      kind: 'text',
      optional: true,
      pattern: '^postgres(ql)?://\\S+$',
      expected: 'postgres://…',
      about: 'Where the ledger is kept, where that is not the state folder: postgres://….',
    },
    env_pass: environmentPassField,
    agents: definitionsField(agentShape, 'The agents, by name.'),
    pipelines: definitionsField(pipelineShape, 'The pipelines, by name.'),
    commands: definitionsField(commandShape, 'What `baton run NAME` starts, by name.'),
    workers: definitionsField(workerShape, 'What claims tasks by itself, by name.'),
    ci: ciShape,
    merge: mergeShape,
    git: gitShape,
    github: githubShape,
    roles: rolesShape,
    workflow: workflowShape,
    notify: notifyShape,
    workspace: workspaceShape,
    limits: limitsShape,
    prices: pricesShape,
  },
} as const satisfies ObjectShape;

export type RunbookValue = ValueOf<typeof runbookShape>;

export const runbookSchema = jsonSchemaOf('Runbook', runbookShape);

export type AgentValue = ValueOf<typeof agentShape>;
export type PipelineValue = ValueOf<typeof pipelineShape>;
export type RunnableValue = ValueOf<typeof runnableField>;
