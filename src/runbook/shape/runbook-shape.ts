import { PHASES } from '../../protocol/phase.ts';
import { WORKFLOW_MODES } from '../../protocol/run-plan.ts';
import { jsonSchemaOf, type ObjectShape, type Shape, type ValueOf } from '../../protocol/shape/shape.ts';
import { PROJECT_NAME } from '../../protocol/store-url.ts';
import { HOST_LABEL } from '../../protocol/fleet.ts';
import { MERGE_METHODS, NOTIFICATION_KINDS } from '../runbook.ts';
import { checkNetworkField, projectNetworkField, sandboxField, secretsField } from './access-shape.ts';
import { agentShape } from './agent-shape.ts';
import {
  commandField,
  countField,
  definitionsField,
  durationField,
  environmentPassField,
  flagField,
  optional,
  referenceField,
  runnableField,
} from './fields.ts';
import { limitsShape, pricesShape } from './limits-shape.ts';
import { githubShape, pipelineShape, rolesShape, workspaceShape } from './section-shapes.ts';

const anyText = { kind: 'text' } as const satisfies Shape;

const commandShape = {
  kind: 'object',
  about: 'Something to start by name: `baton run NAME`.',
  fields: {
    args: optional(
      anyText,
      'The arguments and options of the command, as in "<title> [body] --dry-run [--priority <n>]"; each is a variable.',
    ),
    run: runnableField,
  },
} as const satisfies ObjectShape;

const taskIds = {
  kind: 'text',
  pattern: '^[A-Za-z0-9*][A-Za-z0-9._*-]{0,63}$',
  expected: 'a task id, with * for any part',
} as const satisfies Shape;

const labelField = { kind: 'text', ...HOST_LABEL } as const satisfies Shape;

const workflowRun = {
  kind: 'object',
  mark: 'workflow',
  fields: {
    workflow: { kind: 'choice', values: ['issue'], about: 'The built-in workflow, as of `baton run issue`.' },
    mode: optional(
      { kind: 'choice', values: WORKFLOW_MODES },
      'How often Baton asks a person; default: `workflow.mode`.',
    ),
  },
} as const satisfies ObjectShape;

const workerShape = {
  kind: 'object',
  about: 'Claims tasks by itself, and runs something on each, or makes workflows of them.',
  fields: {
    tasks: optional(
      { kind: 'list', min: 1, of: taskIds },
      'Ids of the tasks that the worker takes; `*` is any part, as in "P0.*".',
    ),
    phases: optional(
      { kind: 'list', min: 1, of: { kind: 'choice', values: PHASES } },
      `The phases in which the worker takes tasks, of: ${PHASES.join(', ')}.`,
    ),
    roles: optional(
      { kind: 'list', min: 1, of: referenceField },
      'The worker takes a task only if it is the turn of one of these roles.',
    ),
    run: {
      ...runnableField,
      optional: true,
      expected: `${runnableField.expected}, or { workflow = "issue" }`,
      about: `${runnableField.about} Or \`{ workflow = "issue" }\`: the task becomes a workflow. A worker of the built-in workflow may leave it out, and keeps every field that it does not set.`,
      options: [...runnableField.options, workflowRun],
    },
    workflow: optional(
      flagField,
      'true: the worker takes only tasks of a workflow, when it is the turn of one of its roles.',
    ),
    labels: optional(
      { kind: 'list', min: 1, of: labelField },
      'The worker runs only on hosts that have all of these labels; a project on one machine ignores them.',
    ),
    concurrency: optional(countField, 'How many tasks the worker works on at once; default: 1.'),
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
      about: 'The checks that must pass. An empty list means no checks.',
      of: {
        kind: 'object',
        fields: {
          name: { kind: 'text', notEmpty: true, about: 'The name of the check.' },
          run: optional(commandField, 'The command; left out: a GitHub workflow of that name reports the result.'),
          timeout: optional(durationField, 'How long it may take, as in "10m".'),
          env_pass: environmentPassField,
          network: checkNetworkField,
          repository: optional(
            { kind: 'text', pattern: '^(?:[^\\s/]+/)?[^\\s/]+/[^\\s/]+$', expected: 'owner/name' },
            "The repository whose reports of the check count; left out: the project's remote.",
          ),
          app: optional(
            { kind: 'text', notEmpty: true },
            'The app whose reports count, as in "github-actions"; left out: the one that reported first.',
          ),
          allow: optional(
            { kind: 'list', of: { kind: 'choice', values: ['skipped', 'neutral'] } },
            'Conclusions that count as passed without a question: `skipped`, `neutral`.',
          ),
        },
      },
    },
    protected: {
      kind: 'list',
      optional: true,
      max: 200,
      about:
        'Paths that decide how work is checked: a branch that changes one is merged only after a person has agreed. They add to the built-in list. `!` before a pattern removes a built-in one; `#key` after it limits it to that part of a JSON, TOML or YAML file.',
      of: { kind: 'text', notEmpty: true, pattern: '^!?/?[^\\s/!].*$', expected: 'a path or pattern such as "ci/**"' },
    },
  },
} as const satisfies Shape;

const mergeShape = {
  kind: 'object',
  optional: true,
  about: 'How Baton merges.',
  fields: {
    method: optional({ kind: 'choice', values: MERGE_METHODS }, 'Default: squash.'),
    into: optional({ kind: 'text', format: 'git-ref', notEmpty: true, expected: 'a branch' }, 'The branch.'),
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
    mode: optional({ kind: 'choice', values: WORKFLOW_MODES }, 'How often Baton asks a person; default: autonomous.'),
    install: optional(commandField, 'The command with which `builtin:prep` installs the dependencies.'),
    build: optional(commandField, 'The command that builds the project.'),
    smoke: optional(commandField, 'The command that tests the build.'),
    validate: {
      kind: 'list',
      optional: true,
      about: 'What `builtin:validator` runs before a merge.',
      of: {
        kind: 'object',
        fields: {
          name: { kind: 'text', notEmpty: true, about: 'As in `test`, `coverage`, `lint`, `type_check`, `security`.' },
          run: { ...commandField, about: 'The command.' },
          timeout: optional(durationField, 'How long it may take, as in "10m".'),
        },
      },
    },
  },
} as const satisfies Shape;

const notifyShape = {
  kind: 'object',
  optional: true,
  about: 'How people are notified.',
  fields: {
    desktop: optional(flagField, 'On the desktop; default: true.'),
    terminal: optional(flagField, 'In terminals that run `baton status --watch`; default: true.'),
    webhook: {
      kind: 'text',
      optional: true,
      pattern: '^(?:https?://[^\\s/]+|\\$\\{env\\.)\\S*$',
      expected: 'a URL, or a template such as ${env.SLACK_WEBHOOK}',
      about: "A URL that receives each notification in Slack's format; `${env.X}` keeps it out of the repository.",
    },
    on: optional(
      { kind: 'list', of: { kind: 'choice', values: NOTIFICATION_KINDS } },
      `Which notifications are sent, of: ${NOTIFICATION_KINDS.join(', ')}; default: all.`,
    ),
  },
} as const satisfies Shape;

/** The whole runbook over all files; the checker and the JSON Schema derive from it. */
export const runbookShape = {
  kind: 'object',
  fields: {
    $schema: optional(anyText, 'The place of the JSON Schema, for editors; Baton ignores it.'),
    exit_protocol: optional(flagField, 'Whether sessions end with an exit signal.'),
    project: optional(
      { kind: 'text', ...PROJECT_NAME },
      'The name of the project, the same on every host; left out: made from the path of the repository.',
    ),
    store: optional(
      { kind: 'text', pattern: '^postgres(ql)?://\\S+$', expected: 'postgres://…' },
      'The database of the ledger, if it is not in the state folder: postgres://user@host/database, without a password.',
    ),
    env_pass: environmentPassField,
    sandbox: sandboxField,
    network: projectNetworkField,
    secrets: secretsField,
    agents: definitionsField(agentShape, 'The agents, by name.'),
    pipelines: definitionsField(pipelineShape, 'The pipelines, by name.'),
    commands: definitionsField(commandShape, 'What `baton run NAME` starts, by name.'),
    workers: definitionsField(workerShape, 'The workers, which claim tasks automatically, by name.'),
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
export type WorkerRunValue = ValueOf<typeof workerShape.fields.run>;
