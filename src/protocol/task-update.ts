import type { Finding } from './shape/finding.ts';
import { defineMessage } from './shape/message.ts';
import type { ObjectShape, ValueOf } from './shape/shape.ts';
import { TASK_STATUSES, taskId } from './shape/shared-fields.ts';
import { parseJsonDocument, renderJson } from './text/json.ts';

export const taskUpdateShape = {
  kind: 'object',
  about: 'A report of a session on its task.',
  fields: {
    task_id: taskId,
    status: {
      kind: 'choice',
      values: TASK_STATUSES,
      about: '`done` needs a thought record first; `blocked` needs notes.',
    },
    progress: { kind: 'number', min: 0, max: 100, optional: true, about: 'Per cent; recorded as a whole number.' },
    notes: { kind: 'text', optional: true, about: 'One or two sentences.' },
  },
} as const satisfies ObjectShape;

export type TaskUpdate = ValueOf<typeof taskUpdateShape>;

export const {
  parse: parseTaskUpdate,
  validate: validateTaskUpdate,
  schema: taskUpdateSchema,
} = defineMessage({ title: 'Task update', shape: taskUpdateShape, read: parseJsonDocument, rules: blockedNeedsNotes });

export const renderTaskUpdate: (update: TaskUpdate) => string = renderJson;

/** Requires notes for a blocked task, because they explain what would unblock it. */
export function blockedNeedsNotes({ status, notes }: TaskUpdate): readonly Finding[] {
  if (status !== 'blocked' || (notes ?? '').trim() !== '') return [];
  const hint = 'Say in `notes` what blocks the task and who could unblock it.';
  return [{ code: 'missing-field', message: 'Missing required field: notes', path: 'notes', at: 0, hint }];
}
