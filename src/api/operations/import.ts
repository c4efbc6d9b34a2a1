import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import { choice, count, list, object, optional, text, whole } from '../../protocol/shape/build-shape.ts';
import { SHOWN_STATUSES, taskId } from '../../protocol/shape/shared-fields.ts';
import { operation } from './operation.ts';

export const description = optional(
  text,
  'The task in full, with everything that the agent must know; at most 16 KiB.',
);

const githubIssue = object({
  repository: {
    kind: 'text',
    pattern: '^(?:[A-Za-z0-9][A-Za-z0-9.-]*/)?[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$',
    expected: 'owner/name, or host/owner/name',
    about: 'owner/name, or host/owner/name.',
  },
  number: { kind: 'number', whole: true, min: 1, about: 'The number of the issue.' },
});

const source = {
  kind: 'text',
  notEmpty: true,
  about: 'The tool or file that the tasks come from. Waivers name it.',
} as const;
const tasks = {
  kind: 'list',
  min: 1,
  max: 10_000,
  about: 'Each task after the tasks that it waits for.',
  of: object({
    task_id: taskId,
    title: { kind: 'text', notEmpty: true, about: 'The goal, in a few words.' },
    after: optional(list(taskId), 'Ids of tasks that must be done before this one.'),
    priority: optional(whole, 'Tasks with a larger number come first; 0 if left out.'),
    status: optional(choice(SHOWN_STATUSES), '`todo` if left out.'),
    reason: optional(text, 'Why it is blocked or cancelled.'),
    prompt_file: optional(text, 'Path of a file that explains the task.'),
    description: description,
    github_issue: optional(
      githubIssue,
      'The issue that the task comes from. Baton closes the issue when the workflow of the task is closed.',
    ),
  }),
} as const;

const importedTasks = object({ source, tasks });

/** Tasks that are created in one commit with something else. */
export const tasksOfRun = object({ source, tasks: { ...tasks, max: PROTOCOL_LIMITS.importPart } });

const limit = { kind: 'number', whole: true, min: 1, max: 500 } as const;

export const taskDescriptions = operation({
  name: 'task_descriptions',
  about: 'List the descriptions of tasks, oldest first. Tasks without a description are left out.',
  access: ['operator'],
  tool: false,
  input: object({
    after_n: optional(count, 'Only tasks with a larger serial number.'),
    limit: optional(limit, 'At most this many; 100 if left out.'),
  }),
  result: object({ tasks: list(object({ task_id: text, n: whole, description: text })) }),
});

export const taskImport = operation({
  name: 'task_import',
  about:
    'Create many tasks at once. List each task after the tasks that it waits for. A list with a mistake creates none. A long list is recorded in parts; if the call is interrupted, send it again: a task whose id exists already is counted and not changed. A task with the status `done` is completed with a waiver; a `blocked` or `cancelled` task gets that status.',
  command: 'import-tasks',
  tool: false,
  maxBytes: PROTOCOL_LIMITS.importBytes,
  input: importedTasks,
  result: object({
    added: { ...count, about: 'How many tasks were created.' },
    existing: { ...count, about: 'How many tasks existed already.' },
  }),
});
