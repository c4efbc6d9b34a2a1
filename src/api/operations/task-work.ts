import type { ValueOf } from '../../protocol/shape/shape.ts';
import { SHOWN_STATUSES, taskId } from '../../protocol/shape/shared-fields.ts';
import {
  choice,
  count,
  flag,
  list,
  nullable,
  object,
  optional,
  text,
  whole,
} from '../../protocol/shape/build-shape.ts';
import { PHASES } from '../../protocol/phase.ts';
import { operation } from './operation.ts';

const changedFile = object({
  path: text,
  action: { ...choice(['created', 'modified', 'deleted']), about: 'A rename counts as a deleted and a created file.' },
  additions: { ...count, about: 'Added lines; 0 for a binary file.' },
  deletions: { ...count, about: 'Deleted lines.' },
  binary: { ...flag, about: 'It has no text.' },
  patch: { ...nullable(text), about: 'Null for a binary file, with `stat`, and after the limit of all patches.' },
  cut: { ...flag, about: 'A limit shortened the patch or left it out.' },
});

const taskDiffResult = object({
  task_id: text,
  of: {
    ...choice(['branch', 'merge', 'session']),
    about:
      'The commits that are shown: those of the branch since the main branch, those of the merge, or those of one session.',
  },
  branch: nullable(text),
  base: { ...text, about: 'The commit before the change.' },
  head: { ...text, about: 'The last commit of the change.' },
  commits: count,
  total: {
    ...object({ files: count, additions: count, deletions: count }),
    about: 'The sums over all files, listed or not.',
  },
  files: { ...list(changedFile), about: 'Sorted by path; at most 1,000.' },
  sessions: {
    ...list(
      object({
        agent_id: text,
        epoch: { ...whole, about: 'The number of its claim.' },
        role: nullable(text),
        base: { ...text, about: 'The commit at which it began.' },
        head: { ...nullable(text), about: 'Its last commit; null if it was not measured, or still works.' },
      }),
    ),
    about: 'The sessions of agents on the task, oldest first. Send `agent_id` of one to see what it changed.',
  },
  worktree: {
    ...nullable(text),
    about:
      'The worktree of a session that works on the task now. It may have uncommitted changes, which are not shown.',
  },
});
export type TaskDiff = ValueOf<typeof taskDiffResult>;

export const taskDiff = operation({
  name: 'task_diff',
  about:
    "Show what the commits of a task change, per file with its patch, read in Baton's own repository. Large patches are shortened; send `path` to get more of a file. A session can see its own task.",
  access: ['operator', 'worker', 'session'],
  tool: false,
  input: object({
    task_id: taskId,
    agent_id: {
      kind: 'text',
      notEmpty: true,
      optional: true,
      about: 'Only the changes of the session of this agent: its id, or the beginning of it.',
    },
    path: {
      kind: 'text',
      notEmpty: true,
      optional: true,
      about: 'Only this file, or the files of this folder, from the top of the repository.',
    },
    stat: optional(flag, 'Leave out the patches.'),
  }),
  result: taskDiffResult,
});

const waitResult = object({
  task_id: text,
  title: text,
  state: {
    ...choice(['going', 'waiting', 'done', 'cancelled']),
    about: '`waiting`: it needs a person; `going`: it is neither over nor needs a person.',
  },
  status: choice(SHOWN_STATUSES),
  phase: choice(PHASES),
  reason: { ...nullable(text), about: 'The question to the person, or why the task is blocked or cancelled.' },
  decision_ids: { ...list(text), about: 'The open decisions about it.' },
});
export type TaskWait = ValueOf<typeof waitResult>;

export const taskWait = operation({
  name: 'task_wait',
  about: 'Whether a task is over or needs a person. With wait_ms the answer comes when that is true.',
  access: ['operator', 'worker', 'session', 'agent'],
  tool: false,
  input: object({
    task_id: taskId,
    wait_ms: {
      kind: 'number',
      min: 0,
      max: 86_400_000,
      whole: true,
      optional: true,
      about: 'Wait at most this long, in milliseconds. Do not poll.',
    },
  }),
  result: waitResult,
});
