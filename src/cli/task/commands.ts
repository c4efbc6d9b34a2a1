import type { ListedCommand } from '../command.ts';

/** Taking work up, and saying how it goes. */
export const TASK_COMMANDS: readonly ListedCommand[] = [
  {
    name: 'task add',
    summary: 'Add a task',
    load: async () => (await import('./change-tasks.ts')).taskAdd,
  },
  {
    name: 'task list',
    summary: 'List tasks, oldest first',
    load: async () => (await import('./read-tasks.ts')).taskList,
  },
  {
    name: 'task show',
    summary: 'Show one task',
    load: async () => (await import('./read-tasks.ts')).taskShow,
  },
  {
    name: 'task next',
    summary: 'Show what can be claimed now, the critical path first',
    load: async () => (await import('./read-tasks.ts')).taskNext,
  },
  {
    name: 'task brief',
    summary: 'Everything the next agent needs to start on a task',
    load: async () => (await import('./read-tasks.ts')).taskBrief,
  },
  {
    name: 'task claim',
    summary: 'Claim a task; without ID, the next one',
    load: async () => (await import('./claim-tasks.ts')).taskClaim,
  },
  {
    name: 'task heartbeat',
    summary: 'Renew your claim',
    load: async () => (await import('./claim-tasks.ts')).taskHeartbeat,
  },
  {
    name: 'task release',
    summary: 'Give a task back; an operator revokes the claim of whoever has it',
    load: async () => (await import('./claim-tasks.ts')).taskRelease,
  },
  {
    name: 'task update',
    summary: 'Say how a task is getting on',
    load: async () => (await import('./change-tasks.ts')).taskUpdate,
  },
  {
    name: 'task complete',
    summary: 'Record what was done and complete the task, in one go',
    load: async () => (await import('./change-tasks.ts')).taskComplete,
  },
  {
    name: 'task unblock',
    summary: 'Return a blocked task to the phase that was blocked',
    load: async () => (await import('./change-tasks.ts')).taskUnblock,
  },
  {
    name: 'task cancel',
    summary: 'Cancel a task, with its sessions and its open decisions; only reinstating ends it',
    load: async () => (await import('./change-tasks.ts')).taskCancel,
  },
  {
    name: 'task reinstate',
    summary: 'Begin a completed or cancelled task again, from IMPLEMENTATION',
    load: async () => (await import('./change-tasks.ts')).taskReinstate,
  },
  {
    name: 'task import',
    summary: 'Take tasks over from another tool, with their dependencies',
    load: async () => (await import('./import.ts')).taskImport,
  },
  {
    name: 'task export',
    summary: 'Write all tasks in the form of another tool',
    load: async () => (await import('./export.ts')).taskExport,
  },
];
