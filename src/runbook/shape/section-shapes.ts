import { declarationShape } from '../../protocol/handoff/declaration-shape.ts';
import type { ObjectShape, Shape, ValueOf } from '../../protocol/shape/shape.ts';
import type { Runbook } from '../runbook.ts';
import {
  commandField,
  durationField,
  flagField,
  NAME_RULE,
  optional,
  pauseField,
  referenceField,
  RUNBOOK_LIMITS,
  runnableField,
  textField,
  variablesField,
} from './fields.ts';
import { budgetShape } from './limits-shape.ts';

const step = {
  kind: 'object',
  fields: {
    name: { kind: 'text', ...NAME_RULE, about: 'The name of the step, unique in its pipeline.' },
    run: runnableField,
    on_done: optional(referenceField, 'The next step; left out: the step below, or the end.'),
    on_fail: {
      kind: 'either',
      optional: true,
      expected: 'the name of a step, or { step = "NAME", retries = 2, cooldown = "5s" }',
      about: 'The step that follows a failure, or retries before it; left out: the pipeline fails.',
      options: [
        referenceField,
        {
          kind: 'object',
          fields: {
            step: optional(referenceField, 'The step that follows; left out: the pipeline fails.'),
            retries: optional({ kind: 'number', whole: true, min: 1, max: 100 }, 'How often Baton retries this step.'),
            cooldown: optional(pauseField, 'The time between two tries.'),
          },
        },
      ],
    },
    on_cancel: optional(referenceField, 'The step that follows a cancellation; left out: the pipeline ends.'),
    timeout: optional(durationField, 'How long the step may take before it fails, as in "10m".'),
    workspace: {
      kind: 'object',
      optional: true,
      about: 'A git worktree for this step and the following ones.',
      fields: {
        branch: { kind: 'text', notEmpty: true, about: 'The branch of the worktree; templates are filled in.' },
        base: optional(textField, 'The commit or branch at which the branch begins; left out: the main branch.'),
      },
    },
    notify: optional(flagField, 'Whether to notify people when this step ends.'),
  },
} as const satisfies ObjectShape;

export const pipelineShape = {
  kind: 'object',
  about: 'Steps, one after the other.',
  fields: {
    vars: variablesField,
    steps: { kind: 'list', of: step, min: 1, max: RUNBOOK_LIMITS.steps, about: 'The steps, in order; at least one.' },
    budget: optional(
      budgetShape,
      'What one run, with all agents and pipelines inside it, may use before Baton asks a person.',
    ),
    notify: optional(flagField, 'Whether to notify people when the pipeline ends.'),
  },
} as const satisfies ObjectShape;

const { roles: add, edges, without } = declarationShape.fields;

/** A declaration for `extendWorkflow`, which checks what a shape cannot express. */
export const rolesShape = {
  kind: 'object',
  optional: true,
  about: 'Additional roles, and the paths of work to and from them.',
  fields: {
    add,
    edges,
    reviewer: {
      kind: 'object',
      optional: true,
      about: 'Who may review.',
      fields: {
        same_agent: optional(
          flagField,
          'Whether an agent may approve its own work in another session; default: false.',
        ),
      },
    },
    without,
  },
} as const satisfies Shape;

const paths = {
  kind: 'list',
  of: { kind: 'text', notEmpty: true, format: 'relative-path', expected: 'a path below the repository, such as .env' },
} as const satisfies Shape;

export const workspaceShape = {
  kind: 'object',
  optional: true,
  about: 'The worktrees in which sessions work on tasks.',
  fields: {
    branch: optional(
      textField,
      "The name of a task's branch, with `${task.id}` or `${task.n}`; default: feature/${task.id}-${task.slug}.",
    ),
    copy: optional(paths, 'Files and folders that git ignores, copied from the repository into each new worktree.'),
    link: optional(
      paths,
      'Files and folders that git ignores, linked into each new worktree: all worktrees share them.',
    ),
    setup: optional(commandField, 'A command that runs once in each new worktree, before the first session.'),
    setup_timeout: optional(durationField, 'How long `workspace.setup` may take; default: 10m.'),
  },
} as const satisfies Shape;

export const githubShape = {
  kind: 'object',
  optional: true,
  about: 'Pull requests at GitHub.',
  fields: {
    pull_requests: optional(
      flagField,
      'Whether tasks have pull requests; default: true if there is a GitHub remote and `gh`.',
    ),
    repository: {
      kind: 'text',
      optional: true,
      pattern: '^([A-Za-z0-9][A-Za-z0-9.-]*/)?[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$',
      expected: 'owner/name, or host/owner/name',
      about: 'The repository of the pull requests: owner/name, or host/owner/name; default: that of the remote.',
    },
    remote: {
      kind: 'text',
      notEmpty: true,
      optional: true,
      pattern: '^[A-Za-z0-9_][A-Za-z0-9_./-]{0,99}$',
      expected: 'the name of a git remote',
      about: 'The git remote to which Baton pushes branches; default: origin, else the first remote at GitHub.',
    },
    draft: optional(flagField, 'Whether pull requests are drafts until the merge; default: false.'),
  },
} as const satisfies Shape;

export function buildGithub(value: NonNullable<ValueOf<typeof githubShape>>): Runbook['github'] {
  const { pull_requests: pullRequests, repository, remote, draft = false } = value;
  return { pullRequests, repository, remote, draft };
}
