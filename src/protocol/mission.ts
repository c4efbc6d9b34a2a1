import { flag, object, optional } from './shape/build-shape.ts';
import { defineMessage } from './shape/message.ts';
import type { ObjectShape, ValueOf } from './shape/shape.ts';
import { epicId, missionTaskId, prdId, protocolVersion } from './shape/shared-fields.ts';
import { parseJsonOrYaml, renderYaml } from './text/yaml.ts';

const number = { kind: 'number', min: 0 } as const;
const path = (about: string) => ({ kind: 'text', notEmpty: true, about }) as const;
const optionalPath = (about: string) => ({ ...path(about), optional: true }) as const;

export const missionShape = {
  kind: 'object',
  about: 'What an agent session is asked to do.',
  fields: {
    version: protocolVersion,
    task_id: missionTaskId,
    epic_id: epicId,
    prd_id: prdId,
    instruction: { kind: 'text', about: 'The task in natural language.' },
    context: {
      kind: 'object',
      about: 'Paths of the files the agent should read.',
      fields: {
        dev_md: optionalPath('DEV.md, if the project has one.'),
        epic_file: path('The epic this task belongs to.'),
        task_file: path('The task itself.'),
        memory: optionalPath('Lessons that earlier sessions reported.'),
        toolset: optionalPath('TOOLSET.md, if the project has one.'),
      },
    },
    constraints: optional(
      object({
        max_files: optional(number, 'How many files may differ from the base.'),
        no_git_commit: optional(flag, 'The agent must not commit.'),
        no_new_deps: optional(flag, 'The agent must not add dependencies.'),
      }),
      'Limits that are measured when the session ends.',
    ),
    timeout: optional(number, 'Seconds until the session is ended; 0 is none.'),
  },
} as const satisfies ObjectShape;

export type Mission = ValueOf<typeof missionShape>;
export const {
  parse: parseMission,
  validate: validateMission,
  schema: missionSchema,
} = defineMessage({ title: 'Mission', shape: missionShape, read: parseJsonOrYaml });

export const renderMission: (mission: Mission) => string = renderYaml;
