import type { ListedCommand } from './command.ts';
import { RUN_COMMANDS } from './run/commands.ts';
import { TASK_COMMANDS } from './task/commands.ts';

/** What is said under a claim, and what is handed on. */
export const HANDOVER_COMMANDS: readonly ListedCommand[] = [
  {
    name: 'thought record',
    summary: 'Record what was done; no task is completed without a record',
    load: async () => (await import('./session.ts')).thoughtRecordCommand,
  },
  {
    name: 'thought list',
    summary: 'List the thought records of a task, newest first',
    load: async () => (await import('./session.ts')).thoughtListCommand,
  },
  {
    name: 'mission show',
    summary: 'Show what your session is asked to do',
    load: async () => (await import('./session.ts')).missionShowCommand,
  },
  {
    name: 'result submit',
    summary: 'Submit the result of your mission; the newest counts',
    load: async () => (await import('./session.ts')).resultSubmitCommand,
  },
  {
    name: 'handoff send',
    summary: 'Send a handoff; it takes effect when your session ends',
    load: async () => (await import('./session.ts')).handoffSendCommand,
  },
  {
    name: 'emit exit',
    summary: 'End your session with an exit signal',
    load: async () => (await import('./session.ts')).emitExitCommand,
  },
  {
    name: 'emit agent:signal',
    summary: 'Signal that your run is complete, escalates or continues',
    load: async () => (await import('./session.ts')).emitAgentSignalCommand,
  },
  {
    name: 'emit agent:idle',
    summary: 'Report that an agent waits for input',
    load: async () => (await import('./session.ts')).emitAgentIdleCommand,
  },
  {
    name: 'emit agent:stop',
    summary: 'Report that an agent tried to stop without a signal',
    load: async () => (await import('./session.ts')).emitAgentStopCommand,
  },
  {
    name: 'handoff list',
    summary: 'List the handoffs, oldest first',
    load: async () => (await import('./session.ts')).handoffListCommand,
  },
  {
    name: 'handoff show',
    summary: 'Show one handoff as it was sent',
    load: async () => (await import('./session.ts')).handoffShowCommand,
  },
  {
    name: 'merge',
    summary: 'Merge a task that is ready',
    load: async () => (await import('./session.ts')).mergeCommand,
  },
];

/** The record and its proofs. */
export const LEDGER_COMMANDS: readonly ListedCommand[] = [
  {
    name: 'ledger log',
    summary: 'Show the ledger',
    load: async () => (await import('./ledger/entries.ts')).ledgerLogCommand,
  },
  {
    name: 'ledger show',
    summary: 'Show one entry in full',
    load: async () => (await import('./ledger/entries.ts')).ledgerShowCommand,
  },
  {
    name: 'ledger verify',
    summary: 'Check the ledger: chain, hashes, signatures, tree, outside checkpoint, snapshot',
    load: async () => (await import('./ledger/verify.ts')).ledgerVerifyCommand,
  },
  {
    name: 'ledger seal',
    summary: 'Seal the ledger: record a signed root over all entries',
    load: async () => (await import('./ledger/seals.ts')).ledgerSealCommand,
  },
  {
    name: 'ledger root',
    summary: 'Show the last seal: its root, and how many entries it covers',
    load: async () => (await import('./ledger/seals.ts')).ledgerRootCommand,
  },
  {
    name: 'ledger prove',
    summary: 'Write a proof of one task that anybody can check',
    load: async () => (await import('./ledger/seals.ts')).ledgerProveCommand,
  },
  {
    name: 'ledger export',
    summary: 'Print the ledger as NDJSON that others can check',
    load: async () => (await import('./ledger/entries.ts')).ledgerExportCommand,
  },
];

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
    load: async () => (await import('./validate.ts')).schemaCommand,
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
    load: async () => (await import('./worktrees.ts')).reconcileCommand,
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
    load: async () => (await import('./hooks.ts')).hooksStatusCommand,
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
