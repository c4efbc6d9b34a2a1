import { PHASES } from '../../protocol/phase.ts';
import { SHOWN_STATUSES, taskId } from '../../protocol/shape/shared-fields.ts';
import { blockedNeedsNotes, taskUpdateShape } from '../../protocol/task-update.ts';
import { operation } from './operation.ts';

const ALL = ['operator', 'worker', 'session', 'agent'] as const;
const HOLDER = ['operator', 'session'] as const;
const text = (about: string) => ({ kind: 'text', optional: true, about }) as const;
const waitMs = {
  kind: 'number',
  min: 0,
  max: 86_400_000,
  whole: true,
  optional: true,
  about: 'Wait at most this long, in milliseconds, until there is something; you are woken, never poll.',
} as const;

export const taskCreate = operation({
  name: 'task_create',
  about:
    'Create a task, under an id that you choose. Use it when you find work that is not part of your own task, instead of doing it. Gives back its id and serial number.',
  access: HOLDER,
  kind: 'write',
  shape: {
    kind: 'object',
    fields: {
      task_id: taskId,
      title: { kind: 'text', notEmpty: true, about: 'What is to be done, in a few words.' },
      after: { kind: 'list', optional: true, of: taskId, about: 'Ids of tasks that must be done before this one.' },
      priority: { kind: 'number', whole: true, optional: true, about: 'The larger, the sooner; 0 where left out.' },
      phase: {
        kind: 'choice',
        values: PHASES,
        optional: true,
        about: 'Where it starts; IMPLEMENTATION where left out.',
      },
      role: text('The role whose turn it is, where the project has roles.'),
      prompt_file: text('Path of a file that says more about it.'),
      epic_id: text('The epic it belongs to, as in E005.'),
      prd_id: text('The PRD it belongs to, as in PRD-001.'),
    },
  },
});

export const taskGet = operation({
  name: 'task_get',
  about: 'Look at one task: title, status, phase, claim, progress, how earlier claims ended, the latest record.',
  access: ALL,
  kind: 'read',
  shape: { kind: 'object', fields: { task_id: taskId } },
});

export const taskList = operation({
  name: 'task_list',
  about:
    'List tasks, oldest first. Filter by status or phase; total says how many there are, and after_n goes on after the last one you got. To find work, use task_next_actions instead.',
  access: ALL,
  kind: 'read',
  shape: {
    kind: 'object',
    fields: {
      status: { kind: 'choice', values: SHOWN_STATUSES, optional: true, about: 'Only tasks with this status.' },
      phase: { kind: 'choice', values: PHASES, optional: true, about: 'Only tasks in this phase.' },
      after_n: {
        kind: 'number',
        min: 0,
        whole: true,
        optional: true,
        about: 'Only tasks with a larger serial number.',
      },
      limit: {
        kind: 'number',
        min: 1,
        max: 1000,
        whole: true,
        optional: true,
        about: 'At most this many; 100 where left out.',
      },
    },
  },
});

export const taskNextActions = operation({
  name: 'task_next_actions',
  about:
    'What can be worked on now: unblocked, unclaimed tasks, those on the critical path first. Call it when you look for work, then claim one with task_claim. It can wait until there is something.',
  access: ALL,
  kind: 'read',
  shape: {
    kind: 'object',
    fields: {
      limit: {
        kind: 'number',
        min: 1,
        max: 100,
        whole: true,
        optional: true,
        about: 'At most this many; 10 where left out.',
      },
      role: text('Only tasks that wait for this role, or for no role in particular.'),
      wait_ms: waitMs,
    },
  },
});

export const taskClaim = operation({
  name: 'task_claim',
  about:
    'Claim a task before you work on it: nobody else can have it while you do. Without task_id you get the most urgent one; with wait_ms you wait until there is one. From then on you speak for this task: an MCP connection remembers that, elsewhere pass the token that comes back. Then call task_brief. Renew the claim with task_heartbeat if you work for longer than a few minutes.',
  access: ['operator', 'worker'],
  kind: 'write',
  shape: {
    kind: 'object',
    fields: {
      task_id: { ...taskId, optional: true },
      as: { kind: 'text', notEmpty: true, about: 'Who you are: a name that people recognise.' },
      role: text(
        'The role you play, as next_role of the task names it: implementer, reviewer, fixer, … Without it you cannot send handoffs.',
      ),
      pid: {
        kind: 'number',
        min: 1,
        whole: true,
        optional: true,
        about:
          'Your process on this machine, if its end is the end of your work: reconciling ends the claims of the dead.',
      },
      wait_ms: waitMs,
    },
  },
});

const ofTask = { kind: 'object', fields: { task_id: taskId } } as const;

export const taskHeartbeat = operation({
  name: 'task_heartbeat',
  about:
    'Renew your claim. Call it at least every few minutes while you work: a claim that nobody renews expires, and somebody else gets the task. If it is refused, stop working on the task: it is not yours any more.',
  access: ['session'],
  kind: 'read',
  shape: { kind: 'object', fields: { task_id: { ...taskId, optional: true } } },
});

export const taskRelease = operation({
  name: 'task_release',
  about:
    'Give the task back undone, so that somebody else can take it up. An operator revokes the claim of whoever has it.',
  access: HOLDER,
  kind: 'write',
  shape: { kind: 'object', fields: { task_id: taskId, reason: text('Why, for whoever comes next.') } },
});

export const taskUpdate = operation({
  name: 'task_update',
  about:
    'Say how your task is getting on. status done completes it, and is refused until you have called thought_record under this claim; blocked needs notes that say what blocks it; todo gives it back.',
  access: HOLDER,
  kind: 'write',
  shape: taskUpdateShape,
  rules: blockedNeedsNotes,
});

export const taskBrief = operation({
  name: 'task_brief',
  about:
    'Everything you need to start on a task, in the order in which to read it: what was done last, what blocks, how earlier sessions ended, what comes next, and which files to read.',
  access: ALL,
  kind: 'read',
  shape: ofTask,
});

const withReason = {
  kind: 'object',
  fields: { task_id: taskId, reason: { kind: 'text', notEmpty: true, about: 'Why: it is recorded.' } },
} as const;
const operatorsOnly = { access: ['operator'], kind: 'write', tool: false, shape: withReason } as const;

export const taskUnblock = operation({
  name: 'task_unblock',
  about: 'Return a blocked task to the phase that was blocked.',
  ...operatorsOnly,
});
export const taskReinstate = operation({
  name: 'task_reinstate',
  about: 'The task is to be done again: back to IMPLEMENTATION, whoever holds it.',
  ...operatorsOnly,
});
export const taskSelfApprove = operation({
  name: 'task_self_approve',
  about:
    'A person approves a change of their own, at the commit that it has now. The reason is recorded, and shown with the task and in its proof.',
  ...operatorsOnly,
});
export const taskCancel = operation({
  name: 'task_cancel',
  about:
    'Cancel a task: its sessions end, its open decisions are withdrawn, its worktree and branch go if they hold nothing. Only reinstating ends it.',
  ...operatorsOnly,
});
export const taskWaive = operation({
  name: 'task_waive',
  about: 'Complete a task without a thought record. The waiver is recorded.',
  ...operatorsOnly,
});

export const taskImport = operation({
  name: 'task_import',
  about:
    'Create many tasks at once, all of them or none; each after those that it waits for. One whose id is there already is left as it is, and counted. Those that are done elsewhere are completed with a waiver, those that are blocked or cancelled become so.',
  access: ['operator'],
  kind: 'write',
  tool: false,
  maxBytes: 8 * 1024 * 1024,
  shape: {
    kind: 'object',
    fields: {
      source: { kind: 'text', notEmpty: true, about: 'Where they come from: it stands in the waivers.' },
      tasks: {
        kind: 'list',
        min: 1,
        max: 10_000,
        about: 'Each after those that it waits for.',
        of: {
          kind: 'object',
          fields: {
            task_id: taskId,
            title: { kind: 'text', notEmpty: true, about: 'What is to be done, in a few words.' },
            after: {
              kind: 'list',
              optional: true,
              of: taskId,
              about: 'Ids of tasks that must be done before this one.',
            },
            priority: { kind: 'number', whole: true, optional: true, about: 'The larger, the sooner.' },
            status: { kind: 'choice', values: SHOWN_STATUSES, optional: true, about: 'todo where left out.' },
            reason: { kind: 'text', optional: true, about: 'Why it is blocked or cancelled.' },
            prompt_file: { kind: 'text', optional: true, about: 'Path of a file that says more about it.' },
          },
        },
      },
    },
  },
});
