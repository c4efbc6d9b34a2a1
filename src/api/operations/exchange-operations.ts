import { taskId, SHOWN_STATUSES } from '../../protocol/shape/shared-fields.ts';
import { operation } from './operation.ts';

export const taskImport = operation({
  name: 'task_import',
  about:
    'Create many tasks at once, all of them or none; each after those that it waits for. One whose id is there already is left as it is, and counted. Those that are done elsewhere are completed with a waiver, those that are blocked or cancelled become so.',
  access: ['operator'],
  kind: 'write',
  tool: false,
  maxBytes: 8 * 1024 * 1024,
  shape: {
    kind: 'object',
    fields: {
      source: { kind: 'text', notEmpty: true, about: 'Where they come from: it stands in the waivers.' },
      tasks: {
        kind: 'list',
        min: 1,
        max: 10_000,
        about: 'Each after those that it waits for.',
        of: {
          kind: 'object',
          fields: {
            task_id: taskId,
            title: { kind: 'text', notEmpty: true, about: 'What is to be done, in a few words.' },
            after: {
              kind: 'list',
              optional: true,
              of: taskId,
              about: 'Ids of tasks that must be done before this one.',
            },
            priority: { kind: 'number', whole: true, optional: true, about: 'The larger, the sooner.' },
            status: { kind: 'choice', values: SHOWN_STATUSES, optional: true, about: 'todo where left out.' },
            reason: { kind: 'text', optional: true, about: 'Why it is blocked or cancelled.' },
            prompt_file: { kind: 'text', optional: true, about: 'Path of a file that says more about it.' },
          },
        },
      },
    },
  },
});
