import type { ListedCommand } from './command.ts';
import { HANDOVER_COMMANDS } from './handover-commands.ts';
import { LEDGER_COMMANDS } from './commands--commands.ts';
import { RUN_COMMANDS } from './run/commands.ts';
import { TASK_COMMANDS } from './task/commands.ts';

/** Every command. Only what help needs stands here, so that a command pays for nothing but itself. */
export const COMMANDS: readonly ListedCommand[] = [
  {
    name: 'validate',
    summary: 'Check a message and show what is wrong with it',
    load: async () => (await import('./validate.ts')).validateCommand,
  },
  {
    name: 'schema',
    summary: 'Print the JSON Schema of a message',
    load: async () => (await import('./schema.ts')).schemaCommand,
  },
  ...TASK_COMMANDS,
  ...HANDOVER_COMMANDS,
  ...RUN_COMMANDS,
  {
    name: 'costs',
    summary: 'Show the tokens, money and time used, and how much of each budget',
    load: async () => (await import('./costs.ts')).costsCommand,
  },
  {
    name: 'worktree list',
    summary: 'List the worktrees, their agents and their uncommitted or unmerged work',
    load: async () => (await import('./worktrees.ts')).worktreeListCommand,
  },
  {
    name: 'worktree prune',
    summary: 'Remove the worktrees of completed tasks; those with unmerged work are kept',
    load: async () => (await import('./worktrees.ts')).worktreePruneCommand,
  },
  {
    name: 'reconcile',
    summary: 'Compare the tasks with git and with running processes',
    load: async () => (await import('./reconcile.ts')).reconcileCommand,
  },
  {
    name: 'web',
    summary: 'Print the address of the page that shows what runs and what needs you',
    load: async () => (await import('./web.ts')).webCommand,
  },
  {
    name: 'mcp',
    summary: 'Serve the tools of Baton to an agent, over standard input and output',
    load: async () => (await import('./client-programs.ts')).mcpCommand,
  },
  {
    name: 'hooks install',
    summary: 'Put the stop policy, a brief and the MCP server into your own sessions of a client',
    load: async () => (await import('./hooks.ts')).hooksInstallCommand,
  },
  {
    name: 'hooks uninstall',
    summary: 'Remove the hooks and restore your files',
    load: async () => (await import('./hooks.ts')).hooksUninstallCommand,
  },
  {
    name: 'hooks status',
    summary: 'Show the clients found, their versions, and where hooks are installed',
    load: async () => (await import('./hooks-status.ts')).hooksStatusCommand,
  },
  {
    name: 'hooks run',
    summary: 'Handle a hook of a client; reads JSON from standard input',
    load: async () => (await import('./hooks.ts')).hooksRunCommand,
  },
  {
    name: 'up',
    summary: 'Start the daemon',
    load: async () => (await import('./daemon/daemon.ts')).upCommand,
  },
  {
    name: 'down',
    summary: 'Stop the daemon, and wait until it is down',
    load: async () => (await import('./daemon/daemon.ts')).downCommand,
  },
  ...LEDGER_COMMANDS,
  {
    name: 'verify',
    summary: 'Check a task proof or an export, offline',
    load: async () => (await import('./ledger/verify-file.ts')).verifyFileCommand,
  },
  {
    name: 'completion',
    summary: 'Print a shell completion script',
    load: async () => (await import('./completion/completion.ts')).createCompletionCommand(COMMANDS),
  },
];
