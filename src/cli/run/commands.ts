import type { ListedCommand } from '../command.ts';

/** What runs, and what a person does about it. */
export const RUN_COMMANDS: readonly ListedCommand[] = [
  {
    name: 'run',
    summary: 'Run a command or a pipeline of the runbook',
    load: async () => (await import('./run.ts')).runStartCommand,
  },
  {
    name: 'status',
    summary: 'Show what runs and what needs you',
    load: async () => (await import('../status/status.ts')).statusCommand,
  },
  {
    name: 'pipeline list',
    summary: 'List the running pipelines, oldest first',
    load: async () => (await import('./pipelines.ts')).pipelineListCommand,
  },
  {
    name: 'pipeline show',
    summary: 'Show one pipeline with its steps',
    load: async () => (await import('./pipelines.ts')).pipelineShowCommand,
  },
  {
    name: 'pipeline wait',
    summary: 'Wait until a pipeline has ended or needs a person',
    load: async () => (await import('./pipelines.ts')).pipelineWaitCommand,
  },
  {
    name: 'pipeline cancel',
    summary: 'Cancel a pipeline and everything that runs in it',
    load: async () => (await import('./pipelines.ts')).pipelineCancelCommand,
  },
  {
    name: 'pipeline resume',
    summary: 'Resume a waiting pipeline in the same conversation',
    load: async () => (await import('./pipelines.ts')).pipelineResumeCommand,
  },
  {
    name: 'pipeline retry',
    summary: 'Restart the step at which a pipeline waits, or a pipeline that failed',
    load: async () => (await import('./pipelines.ts')).pipelineRetryCommand,
  },
  {
    name: 'agent run',
    summary: 'Run one agent of the runbook by itself',
    load: async () => (await import('./run.ts')).agentRunCommand,
  },
  {
    name: 'agent list',
    summary: 'List the running agents, oldest first',
    load: async () => (await import('../agents/agents.ts')).agentListCommand,
  },
  {
    name: 'agent show',
    summary: 'Show one agent',
    load: async () => (await import('../agents/agents.ts')).agentShowCommand,
  },
  {
    name: 'agent logs',
    summary: 'Show the output of an agent',
    load: async () => (await import('../agents/logs.ts')).agentLogsCommand,
  },
  {
    name: 'agent send',
    summary: 'Send a message to an agent, in its conversation',
    load: async () => (await import('../agents/agents.ts')).agentSendCommand,
  },
  {
    name: 'agent attach',
    summary: 'Take the conversation of an agent into your terminal; Baton continues it when you leave',
    load: async () => (await import('../agents/attach.ts')).agentAttachCommand,
  },
  {
    name: 'agent wait',
    summary: 'Wait until an agent is done or needs a person',
    load: async () => (await import('../agents/agents.ts')).agentWaitCommand,
  },
  {
    name: 'agent kill',
    summary: 'Stop an agent and every process that it started',
    load: async () => (await import('../agents/agents.ts')).agentKillCommand,
  },
  {
    name: 'decision list',
    summary: 'List what waits for a person, oldest first',
    load: async () => (await import('../decisions/decisions.ts')).decisionListCommand,
  },
  {
    name: 'decision show',
    summary: 'Show a decision with its options',
    load: async () => (await import('../decisions/decisions.ts')).decisionShowCommand,
  },
  {
    name: 'decision resolve',
    summary: 'Answer a decision',
    load: async () => (await import('../decisions/decisions.ts')).decisionResolveCommand,
  },
  {
    name: 'decision review',
    summary: 'Answer the open decisions one by one',
    load: async () => (await import('../decisions/review.ts')).decisionReviewCommand,
  },
  {
    name: 'runbook adopt',
    summary: 'Put the working runbook in force for everything that starts from now on',
    load: async () => (await import('../runbook/rules.ts')).runbookAdoptCommand,
  },
  {
    name: 'runbook rules',
    summary: 'Show the runbook in force, and how the working file differs from it',
    load: async () => (await import('../runbook/rules.ts')).runbookRulesCommand,
  },
  {
    name: 'runbook check',
    summary: 'Check the runbook and list its errors',
    load: async () => (await import('../runbook/runbook.ts')).runbookCheckCommand,
  },
  {
    name: 'runbook list',
    summary: 'List the commands, pipelines, agents and workers of the runbook',
    load: async () => (await import('../runbook/runbook.ts')).runbookListCommand,
  },
  {
    name: 'agent hook stop',
    summary: 'Decide whether an agent may end its turn, for its stop hook',
    load: async () => (await import('../client-programs.ts')).hookStopCommand,
  },
  {
    name: 'agent play',
    summary: 'Run the script of a scripted agent',
    load: async () => (await import('../client-programs.ts')).agentPlayCommand,
  },
];
