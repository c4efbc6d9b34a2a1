import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import { choice, count, list, object, optional, text, whole } from '../../protocol/shape/build-shape.ts';
import { SHOWN_STATUSES, taskId } from '../../protocol/shape/shared-fields.ts';
import { operation } from './operation.ts';

export const description = optional(
  text,
  'What is to be done, with everything that the agent must know; at most 16 KiB.',
);

const githubIssue = object({
  repository: {
    kind: 'text',
    pattern: '^(?:[A-Za-z0-9][A-Za-z0-9.-]*/)?[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$',
    expected: 'owner/name, or host/owner/name',
    about: 'owner/name, or host/owner/name.',
  },
  number: { kind: 'number', whole: true, min: 1 },
});

export const importedTasks = object({
  source: { kind: 'text', notEmpty: true, about: 'The tool or file that they come from. Waivers name it.' },
  tasks: {
    kind: 'list',
    min: 1,
    max: 10_000,
    about: 'Each after those that it waits for.',
    of: object({
      task_id: taskId,
      title: { kind: 'text', notEmpty: true, about: 'What is to be done, in a few words.' },
      after: optional(list(taskId), 'Ids of tasks that must be done before this one.'),
      priority: optional(whole, 'The larger, the sooner.'),
      status: optional(choice(SHOWN_STATUSES), 'todo if left out.'),
      reason: optional(text, 'Why it is blocked or cancelled.'),
      prompt_file: optional(text, 'Path of a file that says more about it.'),
      description: description,
      github_issue: optional(githubIssue, 'The issue that it comes from: it is closed when its workflow is.'),
    }),
  },
});

const limit = { kind: 'number', whole: true, min: 1, max: 500 } as const;

export const taskDescriptions = operation({
  name: 'task_descriptions',
  about: 'The descriptions of tasks, oldest first; tasks without one are left out.',
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
    'Create many tasks at once, all of them or none. List each task after those that it waits for. A task whose id exists already is left as it is, and counted. Tasks that are done elsewhere are completed with a waiver; those that are blocked or cancelled become so.',
  command: 'import-tasks',
  tool: false,
  maxBytes: PROTOCOL_LIMITS.importBytes,
  input: importedTasks,
  result: object({ added: count, existing: count }),
});
