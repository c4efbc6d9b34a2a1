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
import { CHECK_TOOL, MOST_CHECK_MS } from '../../protocol/handoff/judge.ts';
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

const taskCheckResult = object({
  task_id: text,
  head: { ...text, about: 'The commit that was checked: the one that you judge.' },
  checks: {
    ...list(
      object({
        name: text,
        passed: flag,
        exit_code: { ...nullable(whole), about: 'Null if a signal or its timeout ended it, or if it could not start.' },
        timed_out: flag,
        duration_ms: count,
        output: { ...nullable(text), about: 'The last few kilobytes of its output.' },
        sandbox: { ...nullable(text), about: 'The mode of its sandbox.' },
      }),
    ),
    about: 'The checks that have ended, in the order of the runbook.',
  },
  not_run: {
    ...list(text),
    about: 'The checks behind one that failed, those that `wait_ms` stopped, and those that another system runs.',
  },
});
export type TaskCheck = ValueOf<typeof taskCheckResult>;

export const taskCheck = operation({
  name: CHECK_TOOL,
  about:
    "For a session that judges: run the project's checks on exactly the commit that you judge, in a clean checkout, as Baton runs them. Answers when they have ended.",
  access: ['session'],
  unlistedFields: ['wait_ms'],
  input: object({
    names: {
      kind: 'list',
      min: 1,
      max: 50,
      of: { kind: 'text', notEmpty: true },
      optional: true,
      about: 'Only these checks; all by default.',
    },
    wait_ms: {
      kind: 'number',
      min: 1000,
      max: MOST_CHECK_MS,
      whole: true,
      optional: true,
      about: 'Stop the checks after this time, in milliseconds. Default: 30 minutes.',
    },
  }),
  result: taskCheckResult,
});
