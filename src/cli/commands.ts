import type { ListedCommand } from './command.ts';

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
    name: 'task import',
    summary: 'Take tasks over from another tool, with their dependencies',
    load: async () => (await import('./task/import.ts')).taskImport,
  },
  {
    name: 'task export',
    summary: 'Write all tasks in the form of another tool',
    load: async () => (await import('./task/export.ts')).taskExport,
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
    name: 'mission show',
    summary: 'Show what your session is asked to do',
    load: async () => (await import('./session.ts')).missionShow,
  },
  {
    name: 'result submit',
    summary: 'Hand in the result of your mission; the newest counts',
    load: async () => (await import('./session.ts')).resultSubmit,
  },
  {
    name: 'handoff send',
    summary: 'Hand your task on; it takes effect when your session ends',
    load: async () => (await import('./session.ts')).handoffSend,
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
    name: 'emit agent:idle',
    summary: 'Say that an agent waits for input',
    load: async () => (await import('./emit.ts')).emitAgentIdle,
  },
  {
    name: 'emit agent:stop',
    summary: 'Say that an agent tried to stop without a signal',
    load: async () => (await import('./emit.ts')).emitAgentStop,
  },
  {
    name: 'handoff list',
    summary: 'List the handoffs, oldest first',
    load: async () => (await import('./handoff.ts')).handoffList,
  },
  {
    name: 'handoff show',
    summary: 'Show one handoff as it was sent',
    load: async () => (await import('./handoff.ts')).handoffShow,
  },
  {
    name: 'merge',
    summary: 'Have Baton merge a task that is ready for it',
    load: async () => (await import('./merge.ts')).merge,
  },
  {
    name: 'run',
    summary: 'Run a command or a pipeline of the runbook',
    load: async () => (await import('./run/run.ts')).run,
  },
  {
    name: 'status',
    summary: 'Show what runs and what needs you',
    load: async () => (await import('./status/status.ts')).status,
  },
  {
    name: 'pipeline list',
    summary: 'List the pipelines that are under way, oldest first',
    load: async () => (await import('./pipelines/read-pipelines.ts')).pipelineList,
  },
  {
    name: 'pipeline show',
    summary: 'Show one pipeline with its steps',
    load: async () => (await import('./pipelines/read-pipelines.ts')).pipelineShow,
  },
  {
    name: 'pipeline wait',
    summary: 'Wait until a pipeline is over or needs a person',
    load: async () => (await import('./pipelines/steer-pipelines.ts')).pipelineWait,
  },
  {
    name: 'pipeline cancel',
    summary: 'End a pipeline, and everything that runs in it',
    load: async () => (await import('./pipelines/steer-pipelines.ts')).pipelineCancel,
  },
  {
    name: 'pipeline resume',
    summary: 'Go on with a pipeline that waits, in the same conversation',
    load: async () => (await import('./pipelines/steer-pipelines.ts')).pipelineResume,
  },
  {
    name: 'pipeline retry',
    summary: 'Try the step again at which a pipeline failed or waits',
    load: async () => (await import('./pipelines/steer-pipelines.ts')).pipelineRetry,
  },
  {
    name: 'agent run',
    summary: 'Run one agent of the runbook by itself',
    load: async () => (await import('./run/run.ts')).agentRun,
  },
  {
    name: 'agent list',
    summary: 'List the agents that are at work, oldest first',
    load: async () => (await import('./agents/read-agents.ts')).agentList,
  },
  {
    name: 'agent show',
    summary: 'Show one agent',
    load: async () => (await import('./agents/read-agents.ts')).agentShow,
  },
  {
    name: 'agent logs',
    summary: 'Show what an agent has printed',
    load: async () => (await import('./agents/logs.ts')).agentLogs,
  },
  {
    name: 'agent send',
    summary: 'Say something to an agent, in the conversation it is in',
    load: async () => (await import('./agents/steer-agents.ts')).agentSend,
  },
  {
    name: 'agent attach',
    summary: 'Talk with an agent: see what it prints, and send it what you type',
    load: async () => (await import('./agents/attach.ts')).agentAttach,
  },
  {
    name: 'agent wait',
    summary: 'Wait until an agent is done or needs a person',
    load: async () => (await import('./agents/steer-agents.ts')).agentWait,
  },
  {
    name: 'agent kill',
    summary: 'Stop an agent with everything that it has started',
    load: async () => (await import('./agents/steer-agents.ts')).agentKill,
  },
  {
    name: 'decision list',
    summary: 'List what waits for a person, oldest first',
    load: async () => (await import('./decisions/read-decisions.ts')).decisionList,
  },
  {
    name: 'decision show',
    summary: 'Show a decision with its options',
    load: async () => (await import('./decisions/read-decisions.ts')).decisionShow,
  },
  {
    name: 'decision resolve',
    summary: 'Choose an option of a decision; it is done then, once',
    load: async () => (await import('./decisions/resolve.ts')).decisionResolve,
  },
  {
    name: 'decision review',
    summary: 'Go through everything that waits for you, one by one',
    load: async () => (await import('./decisions/review.ts')).decisionReview,
  },
  {
    name: 'runbook check',
    summary: 'Check the runbook, and show everything that is wrong with it',
    load: async () => (await import('./runbook.ts')).runbookCheck,
  },
  {
    name: 'runbook list',
    summary: 'List what the runbook has to offer',
    load: async () => (await import('./runbook.ts')).runbookList,
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
  {
    name: 'completion',
    summary: 'Print what makes a shell complete the words of baton',
    load: async () => (await import('./completion/completion.ts')).completionOf(COMMANDS),
  },
];
