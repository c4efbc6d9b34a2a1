import { defineMessage } from './shape/message.ts';
import type { ObjectShape, ValueOf } from './shape/shape.ts';
import { TASK_STATUSES, taskId } from './shape/shared-fields.ts';
import { renderJson } from './text/json.ts';
import { parseJsonOrYaml } from './text/yaml.ts';

const texts = (about: string) => ({ kind: 'list', about, of: { kind: 'text', notEmpty: true } }) as const;

export const thoughtRecordShape = {
  kind: 'object',
  about: 'The account of finished work. A task is not done without one.',
  fields: {
    task_id: taskId,
    branch: {
      kind: 'text',
      format: 'git-ref',
      expected: 'a branch name that git accepts',
      about: 'The branch with the work.',
    },
    commit_sha: {
      kind: 'text',
      pattern: '^(?:[0-9a-f]{40}|[0-9a-f]{64})$',
      expected: '40 hex digits, or 64 in a SHA-256 repository',
      about: 'The full hash of the commit with the work.',
    },
    tests_run: texts('Test files or suites that were run.'),
    summary: {
      kind: 'text',
      pattern: '\\S',
      says: 'Field summary must not be empty',
      about: 'What was done: a paragraph.',
    },
    blockers: {
      kind: 'list',
      about: 'What prevents further work; empty if nothing does.',
      of: { kind: 'object', open: true, fields: {} },
    },
    files_changed: texts('Paths created or modified.'),
    related_thought_records: texts('Ids of earlier records this one builds on.'),
    status: { kind: 'choice', values: TASK_STATUSES, optional: true, about: '`todo` reinstates the task.' },
    notes: { kind: 'text', optional: true, about: 'Anything else.' },
  },
} as const satisfies ObjectShape;

export type ThoughtRecord = ValueOf<typeof thoughtRecordShape>;
export const {
  parse: parseThoughtRecord,
  validate: validateThoughtRecord,
  schema: thoughtRecordSchema,
} = defineMessage({ title: 'Thought record', shape: thoughtRecordShape, read: parseJsonOrYaml });

export const renderThoughtRecord: (record: ThoughtRecord) => string = renderJson;
