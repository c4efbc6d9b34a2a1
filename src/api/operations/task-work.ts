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
  action: { ...choice(['created', 'modified', 'deleted']), about: 'A rename is a deleted and a created file.' },
  additions: { ...count, about: 'Lines; 0 in a binary file.' },
  deletions: count,
  binary: flag,
  patch: { ...nullable(text), about: 'Null for a binary file, with `stat`, and beyond the limit of all patches.' },
  cut: { ...flag, about: 'The limits cut the patch off or left it out.' },
});

const taskDiffResult = object({
  task_id: text,
  of: {
    ...choice(['branch', 'merge', 'session']),
    about: 'What is shown: the commits of the branch since the main branch, what the merge brought, or one session.',
  },
  branch: nullable(text),
  base: { ...text, about: 'The commit before the change.' },
  head: text,
  commits: count,
  total: { ...object({ files: count, additions: count, deletions: count }), about: 'Of all files, listed or not.' },
  files: { ...list(changedFile), about: 'By path; at most 1,000.' },
  sessions: {
    ...list(
      object({
        agent_id: text,
        epoch: whole,
        role: nullable(text),
        base: text,
        head: { ...nullable(text), about: 'Null if it was not measured, or still works.' },
      }),
    ),
    about: 'The sessions that were started on the task, oldest first: name one as `agent_id` to see what it changed.',
  },
  worktree: {
    ...nullable(text),
    about: 'The worktree of a session that works on it now. Only commits are shown: it may hold more.',
  },
});
export type TaskDiff = ValueOf<typeof taskDiffResult>;

export const taskDiff = operation({
  name: 'task_diff',
  about:
    "What the commits of a task change, per file with its patch, read in Baton's own repository. Large patches are cut; name the file to get more of it. A session can look at its own task.",
  access: ['operator', 'worker', 'session'],
  tool: false,
  input: object({
    task_id: taskId,
    agent_id: {
      kind: 'text',
      notEmpty: true,
      optional: true,
      about: 'Only what the session of this agent changed; the beginning of its id is enough.',
    },
    path: {
      kind: 'text',
      notEmpty: true,
      optional: true,
      about: 'Only this file, or the files of this folder, from the top of the repository.',
    },
    stat: optional(flag, 'No patches.'),
  }),
  result: taskDiffResult,
});

const waitResult = object({
  task_id: text,
  title: text,
  state: {
    ...choice(['going', 'waiting', 'done', 'cancelled']),
    about: '`waiting`: a person is needed; `going`: it is neither over nor waits for a person.',
  },
  status: choice(SHOWN_STATUSES),
  phase: choice(PHASES),
  reason: { ...nullable(text), about: 'What the person is asked, or why it is blocked or cancelled.' },
  decision_ids: { ...list(text), about: 'The open decisions about it.' },
});
export type TaskWait = ValueOf<typeof waitResult>;

export const taskWait = operation({
  name: 'task_wait',
  about: 'Whether a task is over or needs a person. With wait_ms it answers when that is so.',
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
      about: 'Wait at most this long, in milliseconds; you are woken, never poll.',
    },
  }),
  result: waitResult,
});
