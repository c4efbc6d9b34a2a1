import type { CliCommand, ListedCommand } from './command.ts';

/** Every command, in the order of the help. A command's file is loaded when the command runs. */
export const COMMANDS: readonly ListedCommand[] = [
  ...listCommands(async () => import('./init/init.ts'), {
    initCommand: ['init', 'Set Baton up in this repository, and prove it with a dry run'],
  }),
  ...listCommands(async () => import('./validate.ts'), {
    validateCommand: ['validate', 'Check a message and show what is wrong with it'],
    schemaCommand: ['schema', 'Print the JSON Schema of a message'],
  }),
  ...listCommands(async () => import('./task/change.ts'), {
    taskAddCommand: ['task add', 'Add a task'],
  }),
  ...listCommands(async () => import('./task/read.ts'), {
    taskListCommand: ['task list', 'List tasks, oldest first'],
    taskShowCommand: ['task show', 'Show one task'],
    taskNextCommand: ['task next', 'List the tasks that can be claimed now, the critical path first'],
    taskBriefCommand: ['task brief', 'Print everything that the next agent needs to start on a task'],
  }),
  ...listCommands(async () => import('./task/diff.ts'), {
    taskDiffCommand: ['task diff', 'Show what the commits of a task change'],
  }),
  ...listCommands(async () => import('./task/check.ts'), {
    taskCheckCommand: ['task check', 'For a session that judges: run the checks on the commit that it judges'],
  }),
  ...listCommands(async () => import('./task/log.ts'), {
    taskLogCommand: ['task log', 'Show what the sessions and checks of a task printed'],
  }),
  ...listCommands(async () => import('./wait/wait.ts'), {
    waitCommand: ['wait', 'Wait until tasks, pipelines and agents are over or need a person'],
    taskWaitCommand: ['task wait', 'Wait until tasks are over or need a person'],
  }),
  ...listCommands(async () => import('./task/claim.ts'), {
    taskClaimCommand: ['task claim', 'Claim a task; without ID, the next one'],
    taskHeartbeatCommand: ['task heartbeat', 'Renew your claim'],
    taskReleaseCommand: ['task release', 'Release your claim; an operator can revoke any claim'],
  }),
  ...listCommands(async () => import('./task/change.ts'), {
    taskUpdateCommand: ['task update', 'Update the progress or the status of a task'],
    taskCompleteCommand: ['task complete', 'Record what was done and complete the task'],
    taskNoteCommand: ['task note', 'Leave a note for the agent on a task, or for the next session'],
    taskUnblockCommand: ['task unblock', 'Return a blocked task to the phase that was blocked'],
    taskWaiveCommand: ['task waive', 'Waive a constraint, such as max_files, for the sessions of a task'],
    taskRulesCommand: ['task rules', 'Move workflows to the rules in force'],
    taskCancelCommand: [
      'task cancel',
      'Cancel a task, its sessions and its open decisions; `task reinstate` undoes it',
    ],
    taskReinstateCommand: ['task reinstate', 'Reinstate a completed or cancelled task, from IMPLEMENTATION'],
  }),
  ...listCommands(async () => import('./task/import.ts'), {
    taskImportCommand: ['task import', 'Import tasks from another tool, with their dependencies'],
  }),
  ...listCommands(async () => import('./task/export.ts'), {
    taskExportCommand: ['task export', 'Export all tasks in the format of another tool'],
  }),
  ...listCommands(async () => import('./session.ts'), {
    thoughtRecordCommand: ['thought record', 'Record what was done; no task is completed without a record'],
    thoughtTemplateCommand: ['thought template', 'Print a blank thought record, with what Baton knows filled in'],
    thoughtListCommand: ['thought list', 'List the thought records of a task, newest first'],
    missionShowCommand: ['mission show', 'Show what your session is asked to do'],
    resultSubmitCommand: ['result submit', 'Submit the result of your mission; the newest counts'],
    resultTemplateCommand: ['result template', 'Print a blank result'],
    handoffSendCommand: ['handoff send', 'Send a handoff; it takes effect when your session ends'],
    handoffTemplateCommand: ['handoff template', 'Print the blank handoffs that your role can send'],
    emitExitCommand: ['emit exit', 'End your session with an exit signal'],
    emitAgentSignalCommand: ['emit agent:signal', 'Signal that your run is complete, escalates or continues'],
    emitAgentIdleCommand: ['emit agent:idle', 'Report that an agent waits for input'],
    emitAgentStopCommand: ['emit agent:stop', 'Report that an agent tried to stop without a signal'],
    handoffListCommand: ['handoff list', 'List the handoffs, oldest first'],
    handoffShowCommand: ['handoff show', 'Show one handoff as it was sent'],
    mergeCommand: ['merge', 'Merge a task that is ready'],
  }),
  ...listCommands(async () => import('./run/run.ts'), {
    runStartCommand: ['run', 'Run a command or a pipeline of the runbook'],
  }),
  ...listCommands(async () => import('./status/status.ts'), {
    statusCommand: ['status', 'Show running work and what needs you'],
  }),
  ...listCommands(async () => import('./projects.ts'), {
    projectListCommand: ['project list', 'List the projects of the state folder, and what needs you in each'],
  }),
  ...listCommands(async () => import('./run/pipelines.ts'), {
    pipelineListCommand: ['pipeline list', 'List the running pipelines, oldest first'],
    pipelineShowCommand: ['pipeline show', 'Show one pipeline with its steps'],
  }),
  ...listCommands(async () => import('./wait/wait.ts'), {
    pipelineWaitCommand: ['pipeline wait', 'Wait until pipelines are over or need a person'],
  }),
  ...listCommands(async () => import('./run/pipelines.ts'), {
    pipelineCancelCommand: ['pipeline cancel', 'Cancel a pipeline and everything that runs in it'],
    pipelineResumeCommand: ['pipeline resume', 'Resume a waiting pipeline in the same conversation'],
    pipelineRetryCommand: ['pipeline retry', 'Restart the step at which a pipeline waits, or a pipeline that failed'],
    ackCommand: ['ack', 'Acknowledge a pipeline or agent that failed'],
  }),
  ...listCommands(async () => import('./run/run.ts'), {
    agentRunCommand: ['agent run', 'Run one agent of the runbook by itself'],
  }),
  ...listCommands(async () => import('./agents/agents.ts'), {
    agentListCommand: ['agent list', 'List the running agents, oldest first'],
    agentShowCommand: ['agent show', 'Show one agent'],
  }),
  ...listCommands(async () => import('./agents/clients.ts'), {
    agentClientsCommand: ['agent clients', 'List the clients that agents can run, and what Baton can do with each'],
  }),
  ...listCommands(async () => import('./agents/logs.ts'), {
    agentLogsCommand: ['agent logs', 'Show the output of an agent'],
  }),
  ...listCommands(async () => import('./agents/agents.ts'), {
    agentSendCommand: ['agent send', 'Send a message to an agent, in its conversation'],
  }),
  ...listCommands(async () => import('./agents/attach.ts'), {
    agentAttachCommand: [
      'agent attach',
      'Move the conversation of an agent into your terminal; Baton continues it when you leave',
    ],
  }),
  ...listCommands(async () => import('./wait/wait.ts'), {
    agentWaitCommand: ['agent wait', 'Wait until agents are over or need a person'],
  }),
  ...listCommands(async () => import('./agents/agents.ts'), {
    agentKillCommand: ['agent kill', 'Stop an agent and every process that it started'],
  }),
  ...listCommands(async () => import('./decisions/decisions.ts'), {
    decisionListCommand: ['decision list', 'List what waits for a person, oldest first'],
    decisionShowCommand: ['decision show', 'Show a decision with its options'],
    decisionResolveCommand: ['decision resolve', 'Answer a decision'],
    decisionUndoCommand: ['decision undo', 'Withdraw an answer that is not in effect yet'],
  }),
  ...listCommands(async () => import('./decisions/review.ts'), {
    decisionReviewCommand: ['decision review', 'Answer the open decisions one by one'],
  }),
  ...listCommands(async () => import('./runbook/rules.ts'), {
    runbookAdoptCommand: ['runbook adopt', 'Put the working runbook in force for everything that starts from now on'],
    runbookRulesCommand: ['runbook rules', 'Show the runbook in force, and how the working file differs from it'],
  }),
  ...listCommands(async () => import('./runbook/runbook.ts'), {
    runbookCheckCommand: ['runbook check', 'Check the runbook and list its errors'],
    runbookListCommand: ['runbook list', 'List the commands, pipelines, agents and workers of the runbook'],
  }),
  ...listCommands(async () => import('./client-programs.ts'), {
    hookStopCommand: ['agent hook stop', 'Decide for a stop hook whether the agent may end its turn'],
    agentPlayCommand: ['agent play', 'Run the script of a scripted agent'],
  }),
  ...listCommands(async () => import('./costs.ts'), {
    costsCommand: ['costs', 'Show the tokens, money and time used, and the share of each budget'],
  }),
  ...listCommands(async () => import('./worktrees.ts'), {
    worktreeListCommand: ['worktree list', 'List the worktrees, their agents and their uncommitted or unmerged work'],
    worktreePruneCommand: [
      'worktree prune',
      'Remove the worktrees of completed tasks; those with unmerged work are kept',
    ],
    reconcileCommand: ['reconcile', 'Compare the tasks with git and with running processes'],
  }),
  ...listCommands(async () => import('./web/web.ts'), {
    webCommand: ['web', 'Open the page, which shows running work and what needs you'],
  }),
  ...listCommands(async () => import('./web/web-keys.ts'), {
    webKeysCommand: ['web keys', 'List the keys of pages and editors that act for you'],
    webKeysRevokeCommand: ['web keys revoke', 'Revoke the key of a page or editor, or all of them'],
  }),
  ...listCommands(async () => import('./acp/acp.ts'), {
    acpCommand: ['acp', 'Serve Baton to an editor as an agent, over standard input and output'],
  }),
  ...listCommands(async () => import('./client-programs.ts'), {
    mcpCommand: ['mcp', 'Serve the tools of Baton to an agent, over standard input and output'],
  }),
  ...listCommands(async () => import('./hooks.ts'), {
    hooksInstallCommand: [
      'hooks install',
      'Add the stop policy, a brief and the MCP server to your own sessions of a client',
    ],
    hooksUninstallCommand: ['hooks uninstall', 'Remove the hooks and restore your files'],
    hooksStatusCommand: ['hooks status', 'Show the clients found, their versions, and where hooks are installed'],
    hooksRunCommand: ['hooks run', 'Handle a hook of a client; reads JSON from standard input'],
  }),
  ...listCommands(async () => import('./daemon/daemon.ts'), {
    upCommand: ['up', 'Start the daemon'],
    downCommand: ['down', 'Stop the daemon, and wait until it is down'],
  }),
  ...listCommands(async () => import('./daemon/metrics.ts'), {
    metricsCommand: ['metrics', 'Print what Prometheus needs to read the metrics of the daemon'],
  }),
  ...listCommands(async () => import('./store/init.ts'), {
    storeInitCommand: ['store init', 'Prepare a PostgreSQL database: its schema, and the role of the daemons'],
  }),
  ...listCommands(async () => import('./store/login.ts'), {
    storeLoginCommand: ['store login', 'Create the database login of one host, as the owner'],
  }),
  ...listCommands(async () => import('./store/repair.ts'), {
    storeRepairCommand: ['store repair', 'Move rows that nobody has signed out of the ledger, as the owner'],
  }),
  ...listCommands(async () => import('./store/status.ts'), {
    storeStatusCommand: ['store status', "Show the place and the size of the project's ledger"],
  }),
  ...listCommands(async () => import('./store/move.ts'), {
    storeMoveCommand: ['store move', 'Move the ledger into a database, or back; no hash changes'],
  }),
  ...listCommands(async () => import('./store/compare.ts'), {
    storeCompareCommand: ['store compare', 'Compare the database with the replica of this host'],
  }),
  ...listCommands(async () => import('./store/accept.ts'), {
    storeAcceptCommand: ['store accept', 'Accept the ledger in the database although the replica differs'],
  }),
  ...listCommands(async () => import('./host/join.ts'), {
    hostJoinCommand: ['host join', 'Request that this machine joins a project on PostgreSQL'],
  }),
  ...listCommands(async () => import('./host/hosts.ts'), {
    hostListCommand: ['host list', 'List the hosts of a project on PostgreSQL, and those that ask to join'],
    hostAdmitCommand: ['host admit', 'Admit a host that asks to join'],
    hostDrainCommand: ['host drain', 'Give a host no new work'],
    hostRemoveCommand: ['host remove', 'Remove a host that does not return, and end the trust in its key'],
    hostRemoteCommand: ['host remote', 'Set the git remote through which hosts exchange work'],
  }),
  ...listCommands(async () => import('./doctor/doctor.ts'), {
    doctorCommand: ['doctor', 'Check this machine and this repository, with a fix for each problem'],
  }),
  ...listCommands(async () => import('./ledger/log.ts'), {
    ledgerLogCommand: ['ledger log', 'Show the ledger'],
  }),
  ...listCommands(async () => import('./ledger/entries.ts'), {
    ledgerShowCommand: ['ledger show', 'Show one entry in full'],
    ledgerBlobCommand: ['ledger blob', 'Print a blob that an entry names, such as an evidence bundle or a log'],
  }),
  ...listCommands(async () => import('./ledger/verify.ts'), {
    ledgerVerifyCommand: [
      'ledger verify',
      'Check the ledger: chain, hashes, signatures, tree, outside checkpoint, snapshot',
    ],
  }),
  ...listCommands(async () => import('./ledger/seals.ts'), {
    ledgerSealCommand: ['ledger seal', 'Seal the ledger: record a signed root over all entries'],
    ledgerRootCommand: ['ledger root', 'Show the last seal: its root, and how many entries it covers'],
    ledgerProveCommand: ['ledger prove', 'Write a proof about one task that can be checked offline'],
  }),
  ...listCommands(async () => import('./ledger/entries.ts'), {
    ledgerExportCommand: ['ledger export', 'Print the ledger as NDJSON that can be checked offline'],
  }),
  ...listCommands(async () => import('./ledger/verify-file.ts'), {
    verifyFileCommand: ['verify', 'Check a task proof or an export, offline'],
  }),
  ...listCommands(async () => import('./docs/docs.ts'), {
    docsCommand: ['docs', 'Open the documentation in your browser'],
  }),
  {
    name: 'demo',
    summary: 'Show how a request becomes a merge, with scripted agents in a temporary repository',
    load: async () => (await import('./demo/demo.ts')).createDemoCommand(COMMANDS),
  },
  {
    name: 'completion',
    summary: 'Print a shell completion script',
    load: async () => (await import('./completion/completion.ts')).createCompletionCommand(COMMANDS),
  },
];

/** `rows` maps exports of the file that are commands. */
function listCommands<K extends string>(
  load: () => Promise<Readonly<Record<NoInfer<K>, CliCommand>>>,
  rows: Readonly<Record<K, readonly [name: string, summary: string]>>,
): ListedCommand[] {
  const listed: ListedCommand[] = [];
  for (const key in rows) {
    const [name, summary] = rows[key];
    listed.push({ name, summary, load: async () => (await load())[key] });
  }
  return listed;
}
