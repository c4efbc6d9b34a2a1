import { PHASES } from '../../protocol/phase.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { SHOWN_STATUSES, taskId } from '../../protocol/shape/shared-fields.ts';
import { blockedNeedsNotes, taskUpdateShape } from '../../protocol/task-update.ts';
import { thoughtRecordShape } from '../../protocol/thought-record.ts';
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
import { description } from './import.ts';
import { operation } from './operation.ts';

const ALL = ['operator', 'worker', 'session', 'agent'] as const;
const waitMs = {
  kind: 'number',
  min: 0,
  max: 86_400_000,
  whole: true,
  optional: true,
  about: 'Wait at most this long, in milliseconds, until there is something; you are woken, never poll.',
} as const;

const claimView = object({
  epoch: whole,
  holder: text,
  principal: text,
  role: nullable(text),
  session_id: text,
  since: text,
  expires_at: { ...optional(text), about: 'Left out for a session on another host, which alone renews it.' },
  host: { ...optional(text), about: 'The host of the session; left out if the project has only one.' },
});
export type ClaimView = ValueOf<typeof claimView>;

const taskView = object({
  id: text,
  n: { ...whole, about: 'Its serial number.' },
  title: text,
  status: choice(SHOWN_STATUSES),
  phase: choice(PHASES),
  claimable: flag,
  next_role: nullable(text),
  after: { ...list(text), about: 'Ids of tasks that must be done before it.' },
  priority: whole,
  progress: nullable(count),
  notes: nullable(text),
  blocked_because: nullable(text),
  github_issue: { ...nullable(text), about: 'The address of the issue that it was imported from.' },
  claim: nullable(claimView),
  protected_paths: { ...list(text), about: 'The protected paths that its branch changes, as last measured.' },
});
export type TaskView = ValueOf<typeof taskView>;
const waitView = object({ task_id: text, status: choice(SHOWN_STATUSES), blocked_because: nullable(text) });

export const taskDetails = object({
  ...taskView.fields,
  description: { ...nullable(text), about: 'What is to be done, in the words of its author.' },
  waits_for: { ...list(waitView), about: 'Those of `after` that are not done.' },
  decision_ids: { ...list(text), about: 'The open decisions about it.' },
  endings: {
    ...list(
      object({
        epoch: whole,
        sessionId: text,
        holder: text,
        principal: text,
        how: choice(['completed', 'blocked', 'failed', 'released', 'expired', 'revoked']),
        reason: nullable(text),
        at: text,
      }),
    ),
    about: 'How earlier claims ended, newest last.',
  },
  latest_record: nullable(thoughtRecordShape),
  authors: { ...list(text), about: 'The principals that worked on it.' },
  self_approval: nullable(object({ head: text, by: text, reason: text })),
});
export type TaskDetails = ValueOf<typeof taskDetails>;

const limit = (most: number, standard: number) =>
  ({
    kind: 'number',
    min: 1,
    max: most,
    whole: true,
    optional: true,
    about: `At most this many; ${standard} if left out.`,
  }) as const;

export const taskCreate = operation({
  name: 'task_create',
  about:
    'Create a task, under an id that you choose: for work that you find and that is not part of your own task. Returns its serial number.',
  command: 'create-task',
  input: object({
    task_id: taskId,
    title: { kind: 'text', notEmpty: true, about: 'What is to be done, in a few words.' },
    after: optional(list(taskId), 'Ids of tasks that must be done before this one.'),
    priority: optional(whole, 'The larger, the sooner; 0 if left out.'),
    phase: optional(choice(PHASES), 'Where it starts; IMPLEMENTATION if left out.'),
    role: optional(text, 'The role whose turn it is, if the project has roles.'),
    prompt_file: optional(text, 'Path of a file that says more.'),
    description,
    epic_id: optional(text, 'Its epic, as in E005.'),
    prd_id: optional(text, 'Its PRD, as in PRD-001.'),
  }),
  unlistedFields: ['phase'],
  result: object({ task_id: text, n: whole }),
});

const ofTask = object({ task_id: taskId });

export const taskGet = operation({
  name: 'task_get',
  about: 'Look at one task: title, status, phase, claim, progress, how earlier claims ended, the latest record.',
  access: ALL,
  input: ofTask,
  result: taskDetails,
});

export const taskList = operation({
  name: 'task_list',
  about: 'List tasks, oldest first; `total` is how many there are.',
  access: ALL,
  input: object({
    status: optional(choice(SHOWN_STATUSES), 'Only tasks with this status.'),
    phase: optional(choice(PHASES), 'Only tasks in this phase.'),
    after_n: optional(count, 'Only tasks with a larger `n`: continues a list.'),
    limit: limit(1000, 100),
  }),
  unlistedFields: ['phase'],
  result: object({ tasks: list(taskView), total: count }),
});

export const taskNextActions = operation({
  name: 'task_next_actions',
  about:
    'What can be worked on now: unblocked, unclaimed tasks, those on the critical path first. Call it when you look for work, then claim one with task_claim. It can wait until there is something.',
  access: ALL,
  input: object({
    limit: limit(100, 10),
    role: optional(text, 'Only tasks that wait for this role, or for no role in particular.'),
    wait_ms: waitMs,
  }),
  result: object({ tasks: list(taskView) }),
});

const claim = object({
  task_id: text,
  epoch: whole,
  session_id: text,
  next_role: optional(text, 'The role that the task waits for, if it was claimed without one.'),
  token: text,
  expires_at: text,
});
export type Claim = ValueOf<typeof claim>;

export const taskClaim = operation({
  name: 'task_claim',
  about:
    'Claim a task before you work on it: nobody else can have it while you do. Without task_id you get the most urgent one; with wait_ms you wait for one. From then on you act for this task: an MCP connection remembers that, elsewhere pass the token that is returned. Then call task_brief, and task_heartbeat every few minutes.',
  command: 'claim-task',
  input: object({
    task_id: { ...taskId, optional: true },
    as: { kind: 'text', notEmpty: true, about: 'Who you are: a name that people recognise.' },
    role: optional(
      text,
      'The role you play, as next_role of the task names it: implementer, reviewer, fixer, … Without it you cannot send handoffs.',
    ),
    pid: {
      kind: 'number',
      min: 1,
      whole: true,
      optional: true,
      about: 'Your process on this machine, if its end is the end of your work: the claim ends with it.',
    },
    wait_ms: waitMs,
  }),
  result: claim,
});

export const taskHeartbeat = operation({
  name: 'task_heartbeat',
  about:
    'Renew your claim. Call it at least every few minutes while you work: a claim that is not renewed expires, and another worker gets the task. If the call is refused, stop working on the task: your claim has ended.',
  access: ['session'],
  unlistedFields: ['frozen'],
  input: object({
    task_id: { ...taskId, optional: true },
    frozen: optional(flag, 'From a supervisor: its agent stands still until the claim is renewed.'),
  }),
  result: object({
    task_id: text,
    epoch: whole,
    expires_at: text,
    lease_ms: {
      ...whole,
      optional: true,
      about: 'In a fleet: how long the database has acknowledged this claim. Without a longer answer, stop by then.',
    },
  }),
});

const changed = object({ task_id: text });

export const taskRelease = operation({
  name: 'task_release',
  about: 'Give the task back undone, so that another worker can claim it.',
  command: 'release-claim',
  input: object({ task_id: taskId, reason: optional(text, 'Why, for whoever comes next.') }),
  result: changed,
});

export const taskUpdate = operation({
  name: 'task_update',
  about: 'Report on your task: in_progress with your progress, done to complete it, blocked, or todo to give it back.',
  command: 'update-task',
  input: taskUpdateShape,
  result: object({ task_id: text, status: taskUpdateShape.fields.status }),
  rules: blockedNeedsNotes,
});

export const taskBrief = operation({
  name: 'task_brief',
  about:
    'What you need to start on a task, in reading order: what was done last, what blocks, how earlier sessions ended, what comes next, which files to read.',
  access: ALL,
  input: ofTask,
  result: object({
    text: { ...text, about: 'Markdown.' },
    tokens: { ...count, about: 'An upper estimate.' },
    references: { ...list(text), about: 'Files to read.' },
  }),
});

export const taskNote = operation({
  name: 'task_note',
  about: 'Leave a note on a task: the agent that works on it gets it as a message, else the next session reads it.',
  command: 'note-task',
  tool: false,
  input: object({
    task_id: taskId,
    text: { kind: 'text', notEmpty: true, about: 'The note.' },
    path: optional(text, 'The file that it is about.'),
    line: { kind: 'number', min: 1, whole: true, optional: true, about: 'The line of `path`.' },
    head: optional(text, 'The commit that `path` and `line` are of.'),
  }),
  result: object({
    task_id: text,
    agent_id: { ...nullable(text), about: 'The agent that gets it; null if the next session reads it.' },
  }),
});

const byOperator = {
  command: 'operate-task',
  tool: false,
  input: object({ task_id: taskId, reason: { kind: 'text', notEmpty: true, about: 'Why: it is recorded.' } }),
  result: changed,
} as const;

export const taskUnblock = operation({
  ...byOperator,
  name: 'task_unblock',
  about: 'Return a blocked task to the phase that was blocked.',
});
export const taskReinstate = operation({
  ...byOperator,
  name: 'task_reinstate',
  about: 'Do the task again: it goes back to IMPLEMENTATION, and any claim on it ends.',
});
export const taskSelfApprove = operation({
  ...byOperator,
  command: 'self-approve',
  name: 'task_self_approve',
  about:
    'A person approves a change of their own, at the commit that it has now. The reason is recorded, and shown with the task and in its proof.',
});
export const taskCancel = operation({
  ...byOperator,
  name: 'task_cancel',
  about:
    'Cancel a task: its sessions end, its open decisions are withdrawn, its worktree and branch are removed if they hold nothing. Only reinstating undoes it.',
});
export const taskWaive = operation({
  ...byOperator,
  name: 'task_waive',
  about: 'Complete a task without a thought record. The waiver is recorded.',
});
