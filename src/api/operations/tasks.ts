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
  about: 'Wait at most this long, in milliseconds, until there is a task. Do not poll.',
} as const;

const claimView = object({
  epoch: { ...whole, about: 'The number of the claim.' },
  holder: { ...text, about: 'The name under which the session claimed it.' },
  principal: { ...text, about: 'The name that is responsible for the claim, from its token.' },
  role: nullable(text),
  session_id: text,
  since: text,
  expires_at: optional(text, 'When the claim expires without renewal; left out for a session on another host.'),
  host: optional(text, 'The host of the session; left out if the project has only one.'),
});
export type ClaimView = ValueOf<typeof claimView>;

const taskView = object({
  id: text,
  n: { ...whole, about: 'Its serial number.' },
  title: text,
  status: choice(SHOWN_STATUSES),
  phase: choice(PHASES),
  claimable: { ...flag, about: 'It is a ready task.' },
  next_role: { ...nullable(text), about: 'The role whose turn it is; null if any role may claim it.' },
  after: { ...list(text), about: 'Ids of tasks that must be done before it.' },
  priority: { ...whole, about: 'Tasks with a larger number come first.' },
  progress: { ...nullable(count), about: 'Per cent, as last reported.' },
  notes: { ...nullable(text), about: 'The notes that were last reported.' },
  blocked_because: { ...nullable(text), about: 'Why it is blocked; null if it is not.' },
  github_issue: { ...nullable(text), about: 'The address of the issue that it was imported from.' },
  claim: { ...nullable(claimView), about: 'Its live claim; null if there is none.' },
  protected_paths: { ...list(text), about: 'The protected paths that its branch changes, as last measured.' },
});
export type TaskView = ValueOf<typeof taskView>;
const waitView = object({ task_id: text, status: choice(SHOWN_STATUSES), blocked_because: nullable(text) });

export const taskDetails = object({
  ...taskView.fields,
  description: { ...nullable(text), about: 'The full description, in the words of its author.' },
  author: {
    ...text,
    about: 'Who wrote the title and the description: `operator:ann`, or `a session of W-3, ada (implementer)`.',
  },
  waits_for: { ...list(waitView), about: 'The tasks of `after` that are not done.' },
  decision_ids: { ...list(text), about: 'The open decisions about it.' },
  endings: {
    ...list(
      object({
        epoch: { ...whole, about: 'The number of the claim.' },
        sessionId: text,
        holder: text,
        principal: text,
        how: choice(['completed', 'blocked', 'failed', 'released', 'expired', 'revoked']),
        reason: { ...nullable(text), about: 'Why it ended.' },
        at: text,
      }),
    ),
    about: 'How earlier claims ended, newest last.',
  },
  latest_record: nullable(thoughtRecordShape),
  authors: { ...list(text), about: 'The principals that worked on it.' },
  self_approval: {
    ...nullable(object({ head: text, by: text, reason: text })),
    about: 'The approval of a commit by an operator who worked on it; null if there is none.',
  },
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
    'Create a task, under an id that you choose: for work that you find and that is not part of your own task. A task of a session has at most the priority of its own task and shares its budget. Beyond `limits.tasks` it is a proposal, about which a person is asked.',
  command: 'create-task',
  input: object({
    task_id: taskId,
    title: { kind: 'text', notEmpty: true, about: 'The goal, in a few words.' },
    after: optional(list(taskId), 'Ids of tasks that must be done before this one.'),
    priority: optional(whole, 'Tasks with a larger number come first; 0 if left out.'),
    phase: optional(choice(PHASES), 'Its first phase; IMPLEMENTATION if left out.'),
    role: optional(text, 'The role whose turn it is, if the project has roles.'),
    prompt_file: optional(text, 'Path of a file that explains the task.'),
    description,
    epic_id: optional(text, 'Its epic, as in E005.'),
    prd_id: optional(text, 'Its PRD, as in PRD-001.'),
  }),
  unlistedFields: ['phase'],
  result: object({
    task_id: text,
    n: { ...nullable(whole), about: 'Its serial number; null for a proposal, until a person accepts it.' },
    priority: optional(whole, 'Its priority, if that is lower than the one asked for.'),
  }),
});

const ofTask = object({ task_id: taskId });

export const taskGet = operation({
  name: 'task_get',
  about: 'Show one task: title, status, phase, claim, progress, how earlier claims ended, the latest record.',
  access: ALL,
  input: ofTask,
  result: taskDetails,
});

export const taskList = operation({
  name: 'task_list',
  about: 'List tasks, oldest first. `total` is the number of all matching tasks.',
  access: ALL,
  input: object({
    status: optional(choice(SHOWN_STATUSES), 'Only tasks with this status.'),
    phase: optional(choice(PHASES), 'Only tasks in this phase.'),
    after_n: optional(count, 'Only tasks with a larger `n`, to continue a list.'),
    limit: limit(1000, 100),
  }),
  unlistedFields: ['phase'],
  result: object({ tasks: list(taskView), total: { ...count, about: 'How many tasks match.' } }),
});

export const taskNextActions = operation({
  name: 'task_next_actions',
  about:
    'List the ready tasks: not blocked, not claimed, dependencies done; tasks on the critical path first. Call it when you look for work, then claim one with task_claim. It can wait until there is a task.',
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
  epoch: { ...whole, about: 'The number of the claim.' },
  session_id: text,
  next_role: optional(text, 'The role that the task waits for, if it was claimed without one.'),
  token: { ...text, about: 'The token of the session: send it with every call for this task.' },
  expires_at: { ...text, about: 'When the claim expires without renewal.' },
});
export type Claim = ValueOf<typeof claim>;

export const taskClaim = operation({
  name: 'task_claim',
  about:
    'Claim a task before you work on it: only one session can have it at a time. Without task_id you get the most urgent one; with wait_ms you wait for one. From then on you act for this task: an MCP connection remembers that, elsewhere pass the returned token. Then call task_brief, and task_heartbeat every few minutes.',
  command: 'claim-task',
  input: object({
    task_id: { ...taskId, optional: true },
    as: { kind: 'text', notEmpty: true, about: 'Your name, which people recognise.' },
    role: optional(
      text,
      'Your role, which is next_role of the task: implementer, reviewer, fixer, … Without a role you cannot send handoffs.',
    ),
    pid: {
      kind: 'number',
      min: 1,
      whole: true,
      optional: true,
      about: 'The id of your process on this machine: the claim ends when this process ends.',
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
    frozen: optional(flag, 'From a supervisor: its agent is suspended until the claim is renewed.'),
  }),
  result: object({
    task_id: text,
    epoch: whole,
    expires_at: { ...text, about: 'When the claim expires without renewal.' },
    lease_ms: optional(
      whole,
      'In a fleet: for how long the database has acknowledged this claim. Stop after this time, unless a later answer extends it.',
    ),
  }),
});

const changed = object({ task_id: text });

export const taskRelease = operation({
  name: 'task_release',
  about: 'Release the claim without completing the task, so that another session can claim it.',
  command: 'release-claim',
  input: object({ task_id: taskId, reason: optional(text, 'Why, for the next session.') }),
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
    'Get what you need to start on a task, in reading order: what was done last, what blocks it, how earlier sessions ended, what comes next, which files to read.',
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
  about:
    'Leave a note on a task. The agent that works on the task gets it as a message; if there is none, the next session reads it.',
  command: 'note-task',
  tool: false,
  input: object({
    task_id: taskId,
    text: { kind: 'text', notEmpty: true, about: 'The note.' },
    path: optional(text, 'The file that the note is about.'),
    line: { kind: 'number', min: 1, whole: true, optional: true, about: 'The line of `path`.' },
    head: optional(text, 'The commit in which `path` and `line` are.'),
  }),
  result: object({
    task_id: text,
    agent_id: { ...nullable(text), about: 'The agent that gets it; null if the next session reads it.' },
  }),
});
