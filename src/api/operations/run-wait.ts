import type { ValueOf } from '../../protocol/shape/shape.ts';
import { choice, flag, list, nullable, object, optional, text } from '../../protocol/shape/build-shape.ts';
import { operation } from './operation.ts';

const waited = object({
  kind: choice(['task', 'pipeline', 'agent']),
  id: { ...text, about: 'The whole id.' },
  name: { ...text, about: 'The title of a task; the name of a pipeline or agent.' },
  state: {
    ...choice(['going', 'waiting', 'done', 'failed', 'cancelled']),
    about: '`waiting`: it needs a person; `going`: it is neither over nor needs a person.',
  },
  at: { ...nullable(text), about: 'The phase of a task, or the step of a pipeline.' },
  reason: { ...nullable(text), about: 'The question to the person, or why it failed, is blocked or was cancelled.' },
  decision_ids: { ...list(text), about: 'The open decisions that it waits for.' },
});
export type WaitedRun = ValueOf<typeof waited>;

const runWaitResult = object({
  settled: {
    ...flag,
    about: 'True if all of them, or with `any` one of them, are over or need a person. False if the time ran out.',
  },
  waits: { ...list(waited), about: 'Each of `ids`, in that order.' },
});
export type RunWait = ValueOf<typeof runWaitResult>;

export const runWait = operation({
  name: 'run_wait',
  about:
    'Whether tasks, pipelines and agents are over or need a person. With wait_ms the answer comes when that is true for all of them, or with `any` for one of them. Workers and sessions can name only tasks.',
  access: ['operator', 'worker', 'session', 'agent'],
  tool: false,
  input: object({
    ids: {
      ...list({ kind: 'text', notEmpty: true } as const),
      min: 1,
      max: 100,
      about: 'Ids of tasks; ids of pipelines and agents, or the beginning of them.',
    },
    kind: optional(choice(['task', 'pipeline', 'agent']), 'All ids are of this kind.'),
    any: optional(flag, 'Answer when one of them is over or needs a person.'),
    wait_ms: {
      kind: 'number',
      min: 0,
      max: 86_400_000,
      whole: true,
      optional: true,
      about: 'Wait at most this long, in milliseconds. Do not poll.',
    },
  }),
  result: runWaitResult,
});
