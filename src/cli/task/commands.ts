import type { ListedCommand } from '../command.ts';

/** Taking work up, and saying how it goes. */
export const TASK_COMMANDS: readonly ListedCommand[] = [
  {
    name: 'task add',
    summary: 'Add a task',
    load: async () => (await import('./change.ts')).taskAddCommand,
  },
  {
    name: 'task list',
    summary: 'List tasks, oldest first',
    load: async () => (await import('./read.ts')).taskListCommand,
  },
  {
    name: 'task show',
    summary: 'Show one task',
    load: async () => (await import('./read.ts')).taskShowCommand,
  },
  {
    name: 'task next',
    summary: 'Show what can be claimed now, the critical path first',
    load: async () => (await import('./read.ts')).taskNextCommand,
  },
  {
    name: 'task brief',
    summary: 'Everything the next agent needs to start on a task',
    load: async () => (await import('./read.ts')).taskBriefCommand,
  },
  {
    name: 'task claim',
    summary: 'Claim a task; without ID, the next one',
    load: async () => (await import('./claim.ts')).taskClaimCommand,
  },
  {
    name: 'task heartbeat',
    summary: 'Renew your claim',
    load: async () => (await import('./claim.ts')).taskHeartbeatCommand,
  },
  {
    name: 'task release',
    summary: 'Release your claim; an operator can revoke any claim',
    load: async () => (await import('./claim.ts')).taskReleaseCommand,
  },
  {
    name: 'task update',
    summary: 'Update the progress or the status of a task',
    load: async () => (await import('./change.ts')).taskUpdateCommand,
  },
  {
    name: 'task complete',
    summary: 'Record what was done and complete the task',
    load: async () => (await import('./change.ts')).taskCompleteCommand,
  },
  {
    name: 'task unblock',
    summary: 'Return a blocked task to the phase that was blocked',
    load: async () => (await import('./change.ts')).taskUnblockCommand,
  },
  {
    name: 'task cancel',
    summary: 'Cancel a task, its sessions and its open decisions; `task reinstate` undoes it',
    load: async () => (await import('./change.ts')).taskCancelCommand,
  },
  {
    name: 'task reinstate',
    summary: 'Reinstate a completed or cancelled task, from IMPLEMENTATION',
    load: async () => (await import('./change.ts')).taskReinstateCommand,
  },
  {
    name: 'task import',
    summary: 'Import tasks from another tool, with their dependencies',
    load: async () => (await import('./import.ts')).taskImportCommand,
  },
  {
    name: 'task export',
    summary: 'Export all tasks in the format of another tool',
    load: async () => (await import('./export.ts')).taskExportCommand,
  },
];
