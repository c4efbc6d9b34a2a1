import { list, object, optional } from './shape/build-shape.ts';
import { defineMessage } from './shape/message.ts';
import type { ObjectShape, ValueOf } from './shape/shape.ts';
import { fileActions, filePath, missionTaskId, protocolVersion, timestamp } from './shape/shared-fields.ts';
import { parseJsonOrYaml, renderYaml } from './text/yaml.ts';

export const resultShape = {
  kind: 'object',
  about: 'What an agent session reports back.',
  fields: {
    version: protocolVersion,
    task_id: missionTaskId,
    status: { kind: 'choice', values: ['completed', 'failed', 'blocked'], about: 'How the session ended.' },
    files_modified: {
      about: 'Every file that the session created, modified or deleted.',
      ...list(object({ path: filePath, action: fileActions })),
    },
    log: {
      kind: 'list',
      min: 2,
      says: 'Log must contain at least 2 entries',
      about: 'What happened, for the next session on the task.',
      of: {
        kind: 'object',
        fields: {
          level: {
            kind: 'choice',
            values: ['info', 'tip', 'warn', 'error', 'critical'],
            about: 'The importance.',
          },
          message: { kind: 'text', notEmpty: true, about: 'One sentence.' },
          timestamp,
        },
      },
    },
    issues: optional(
      list(
        object({
          type: { kind: 'choice', values: ['blocker', 'question', 'concern'], about: 'The kind of issue.' },
          description: { kind: 'text', notEmpty: true, about: 'The issue, and what would solve it.' },
        }),
      ),
      'Open points that you cannot solve.',
    ),
    completed_at: timestamp,
  },
} as const satisfies ObjectShape;

export type Result = ValueOf<typeof resultShape>;
export const {
  parse: parseResult,
  validate: validateResult,
  schema: resultSchema,
} = defineMessage({ title: 'Result', shape: resultShape, read: parseJsonOrYaml });

export const renderResult: (result: Result) => string = renderYaml;
