import type { Command } from './command.ts';

interface Listed {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** Every command. Only what help needs stands here, so that a command pays for nothing but itself. */
export const COMMANDS: readonly Listed[] = [
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
  {
    name: 'task add',
    summary: 'Add a task',
    load: async () => (await import('./task/change-tasks.ts')).taskAdd,
  },
  {
    name: 'task list',
    summary: 'List tasks, oldest first',
    load: async () => (await import('./task/read-tasks.ts')).taskList,
  },
  {
    name: 'task show',
    summary: 'Show one task',
    load: async () => (await import('./task/read-tasks.ts')).taskShow,
  },
  {
    name: 'task next',
    summary: 'Show what can be claimed now, the critical path first',
    load: async () => (await import('./task/read-tasks.ts')).taskNext,
  },
  {
    name: 'task brief',
    summary: 'Everything the next agent needs to start on a task',
    load: async () => (await import('./task/read-tasks.ts')).taskBrief,
  },
  {
    name: 'task claim',
    summary: 'Claim a task; without ID, the next one',
    load: async () => (await import('./task/claim-tasks.ts')).taskClaim,
  },
  {
    name: 'task heartbeat',
    summary: 'Renew your claim',
    load: async () => (await import('./task/claim-tasks.ts')).taskHeartbeat,
  },
  {
    name: 'task release',
    summary: 'Give a task back; an operator revokes the claim of whoever has it',
    load: async () => (await import('./task/claim-tasks.ts')).taskRelease,
  },
  {
    name: 'task update',
    summary: 'Say how a task is getting on',
    load: async () => (await import('./task/change-tasks.ts')).taskUpdate,
  },
  {
    name: 'task complete',
    summary: 'Record what was done and complete the task, in one go',
    load: async () => (await import('./task/change-tasks.ts')).taskComplete,
  },
  {
    name: 'task unblock',
    summary: 'Return a blocked task to the phase that was blocked',
    load: async () => (await import('./task/change-tasks.ts')).taskUnblock,
  },
  {
    name: 'thought record',
    summary: 'Record what was done: no task is done without it',
    load: async () => (await import('./thought.ts')).thoughtRecord,
  },
  {
    name: 'thought list',
    summary: 'List the thought records of a task, newest first',
    load: async () => (await import('./thought.ts')).thoughtList,
  },
  {
    name: 'emit exit',
    summary: 'End your session with an exit signal',
    load: async () => (await import('./emit.ts')).emitExit,
  },
  {
    name: 'emit agent:signal',
    summary: 'Say how your run stands: complete, escalate or continue',
    load: async () => (await import('./emit.ts')).emitAgentSignal,
  },
  {
    name: 'agent hook stop',
    summary: 'Decide whether an agent may end its turn, for its stop hook',
    load: async () => (await import('./agent-programs.ts')).hookStop,
  },
  {
    name: 'agent play',
    summary: 'Play the script of a scripted agent',
    load: async () => (await import('./agent-programs.ts')).agentPlay,
  },
  {
    name: 'reconcile',
    summary: 'Compare the tasks with git and with running processes',
    load: async () => (await import('./reconcile.ts')).reconcile,
  },
  {
    name: 'mcp',
    summary: 'Serve the tools of Baton to an agent, over standard input and output',
    load: async () => (await import('./mcp.ts')).mcp,
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
  {
    name: 'ledger log',
    summary: 'Show what was recorded',
    load: async () => (await import('./ledger/log.ts')).log,
  },
  {
    name: 'ledger show',
    summary: 'Show one entry in full',
    load: async () => (await import('./ledger/show.ts')).show,
  },
  {
    name: 'ledger verify',
    summary: 'Check the whole record: chain, hashes, signatures, tree, outside checkpoint',
    load: async () => (await import('./ledger/verify.ts')).verify,
  },
  {
    name: 'ledger seal',
    summary: 'Record a signed root over everything so far',
    load: async () => (await import('./ledger/seal.ts')).seal,
  },
  {
    name: 'ledger root',
    summary: 'Print the root of the last seal',
    load: async () => (await import('./ledger/root.ts')).root,
  },
  {
    name: 'ledger prove',
    summary: 'Write everything about a task into one file that anybody can check',
    load: async () => (await import('./ledger/prove.ts')).prove,
  },
  {
    name: 'ledger export',
    summary: 'Print the whole record as NDJSON that others can check',
    load: async () => (await import('./ledger/export.ts')).exportCommand,
  },
  {
    name: 'verify',
    summary: 'Check a task proof or an export, offline',
    load: async () => (await import('./verify.ts')).verify,
  },
];
