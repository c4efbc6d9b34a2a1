import type { ListedCommand } from './command.ts';
import { HANDOVER_COMMANDS } from './handover-commands.ts';
import { LEDGER_COMMANDS } from './ledger/commands.ts';
import { RUN_COMMANDS } from './run/commands.ts';
import { TASK_COMMANDS } from './task/commands.ts';

/** Every command. Only what help needs stands here, so that a command pays for nothing but itself. */
export const COMMANDS: readonly ListedCommand[] = [
  {
    name: 'validate',
    summary: 'Check a message and show what is wrong with it',
    load: async () => (await import('./validate.ts')).validate,
  },
  {
    name: 'schema',
    summary: 'Print the JSON Schema of a message',
    load: async () => (await import('./schema.ts')).schema,
  },
  ...TASK_COMMANDS,
  ...HANDOVER_COMMANDS,
  ...RUN_COMMANDS,
  {
    name: 'costs',
    summary: 'Show what was used: tokens, money and time, and how far each budget is used',
    load: async () => (await import('./costs/costs.ts')).costs,
  },
  {
    name: 'worktree list',
    summary: 'List the worktrees, who works there, and what each holds',
    load: async () => (await import('./worktree/worktrees.ts')).worktreeList,
  },
  {
    name: 'worktree prune',
    summary: 'Remove the worktrees of tasks that are done; whatever holds work is kept',
    load: async () => (await import('./worktree/worktrees.ts')).worktreePrune,
  },
  {
    name: 'reconcile',
    summary: 'Compare the tasks with git and with running processes',
    load: async () => (await import('./reconcile.ts')).reconcile,
  },
  {
    name: 'web',
    summary: 'Print the address of the page that shows what runs and what needs you',
    load: async () => (await import('./web.ts')).web,
  },
  {
    name: 'mcp',
    summary: 'Serve the tools of Baton to an agent, over standard input and output',
    load: async () => (await import('./mcp.ts')).mcp,
  },
  {
    name: 'hooks install',
    summary: 'Put the stop policy, a brief and the MCP server into your own sessions of a client',
    load: async () => (await import('./hooks.ts')).hooksInstall,
  },
  {
    name: 'hooks uninstall',
    summary: 'Take them out again; your files are what they were',
    load: async () => (await import('./hooks.ts')).hooksUninstall,
  },
  {
    name: 'hooks status',
    summary: 'Show which clients are here, which versions are known, and what is installed where',
    load: async () => (await import('./hooks-status.ts')).hooksStatus,
  },
  {
    name: 'hooks run',
    summary: 'What a client runs at its hooks; JSON on standard input',
    load: async () => (await import('./hooks.ts')).hooksRun,
  },
  {
    name: 'up',
    summary: 'Start the daemon',
    load: async () => (await import('./daemon.ts')).up,
  },
  {
    name: 'down',
    summary: 'Stop the daemon, and wait until it is down',
    load: async () => (await import('./daemon.ts')).down,
  },
  ...LEDGER_COMMANDS,
  {
    name: 'verify',
    summary: 'Check a task proof or an export, offline',
    load: async () => (await import('./verify.ts')).verify,
  },
  {
    name: 'completion',
    summary: 'Print what makes a shell complete the words of baton',
    load: async () => (await import('./completion/completion.ts')).completionOf(COMMANDS),
  },
];
