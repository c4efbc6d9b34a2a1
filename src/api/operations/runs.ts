import { operation } from './operation.ts';

/** The field by which an operator agrees to a runbook that loosens the rules in force. */
export const acceptRules = {
  kind: 'text',
  optional: true,
  pattern: '^[0-9a-f]{64}$',
  expected: 'the hash of a runbook',
  about: 'The hash of the working runbook, if it loosens the rules in force: you have seen how it differs.',
} as const;

const PEOPLE = ['operator'] as const;
const text = (about: string) => ({ kind: 'text', about, optional: true }) as const;
const id = (about: string) => ({ kind: 'text', notEmpty: true, about }) as const;
const all = { kind: 'flag', optional: true, about: 'Also those that are over.' } as const;
const waitMs = {
  kind: 'number',
  min: 0,
  max: 86_400_000,
  whole: true,
  optional: true,
  about: 'Wait at most this long, in milliseconds, until it is over or needs a person; you are woken, never poll.',
} as const;

const named = {
  kind: 'object',
  fields: {
    name: id('A command, pipeline or agent of the runbook.'),
    args: { kind: 'list', optional: true, of: { kind: 'text' }, about: 'Its arguments, as they are typed.' },
    kind: {
      kind: 'choice',
      values: ['agent'],
      optional: true,
      about: 'agent: only an agent, also where a command or a pipeline has the same name.',
    },
  },
} as const;

const acceptNoChecks = {
  kind: 'flag',
  optional: true,
  about:
    'Your answer that nothing is checked before a merge, if the runbook does not set ci.required. It is recorded, once.',
} as const;

export const runStart = operation({
  name: 'run_start',
  about:
    'Start a command, a pipeline or a standalone agent of the runbook by its name. Gives back its kind and its id.',
  access: PEOPLE,
  kind: 'write',
  tool: false,
  shape: { kind: 'object', fields: { ...named.fields, accept_rules: acceptRules, accept_no_checks: acceptNoChecks } },
});

export const runPlan = operation({
  name: 'run_plan',
  about:
    'What run_start with the same input would do: the plan, and the first things that would happen. Nothing is done.',
  access: PEOPLE,
  kind: 'read',
  tool: false,
  shape: named,
});

export const pipelineList = operation({
  name: 'pipeline_list',
  about: 'The pipelines that are under way, oldest first, each with its step.',
  access: PEOPLE,
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: { all } },
});

export const pipelineShow = operation({
  name: 'pipeline_show',
  about: 'One pipeline with its steps. With wait_ms it answers when the pipeline is over or waits for a person.',
  access: PEOPLE,
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: { id: id('Of the pipeline, or the beginning of it.'), wait_ms: waitMs } },
});

export const pipelineCancel = operation({
  name: 'pipeline_cancel',
  about: 'End a pipeline. What runs in it is stopped.',
  access: PEOPLE,
  kind: 'write',
  tool: false,
  shape: {
    kind: 'object',
    fields: { id: id('Of the pipeline, or the beginning of it.'), reason: text('Why: it is recorded.') },
  },
});

export const pipelineRetry = operation({
  name: 'pipeline_retry',
  about:
    'Try the step again at which a pipeline waits; one that failed or was cancelled is run anew, under the id that is given back.',
  access: PEOPLE,
  kind: 'write',
  tool: false,
  shape: { kind: 'object', fields: { id: id('Of the pipeline, or the beginning of it.') } },
});

export const pipelineResume = operation({
  name: 'pipeline_resume',
  about:
    'Go on with a pipeline that waits: its agent is woken in the same conversation, with a message where one is given.',
  access: PEOPLE,
  kind: 'write',
  tool: false,
  shape: {
    kind: 'object',
    fields: { id: id('Of the pipeline, or the beginning of it.'), message: text('What the agent is told.') },
  },
});

export const agentList = operation({
  name: 'agent_list',
  about: 'The agents that are at work, oldest first.',
  access: PEOPLE,
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: { all } },
});

export const agentShow = operation({
  name: 'agent_show',
  about:
    'One agent: its status, its process, what it has said. With wait_ms it answers when it is over or needs a person.',
  access: PEOPLE,
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: { id: id('Of the agent, or the beginning of it.'), wait_ms: waitMs } },
});

export const agentSend = operation({
  name: 'agent_send',
  about: 'Send a message to an agent, in its conversation.',
  access: PEOPLE,
  kind: 'write',
  tool: false,
  shape: {
    kind: 'object',
    fields: {
      id: id('Of the agent, or the beginning of it.'),
      text: { kind: 'text', notEmpty: true, about: 'What it is told.' },
    },
  },
});

export const agentAttach = operation({
  name: 'agent_attach',
  about:
    'A person takes the conversation of an agent over, in the interactive mode of its client: its process is stopped, and the one with the number `start` waits for their terminal.',
  access: PEOPLE,
  kind: 'write',
  tool: false,
  shape: {
    kind: 'object',
    fields: {
      id: id('Of the agent, or the beginning of it.'),
      by: { kind: 'text', notEmpty: true, about: 'Who, and in front of which terminal: it is recorded.' },
    },
  },
});

export const agentKill = operation({
  name: 'agent_kill',
  about: 'Stop an agent and every process that it started.',
  access: PEOPLE,
  kind: 'write',
  tool: false,
  shape: {
    kind: 'object',
    fields: { id: id('Of the agent, or the beginning of it.'), reason: text('Why: it is recorded.') },
  },
});

export const statusGet = operation({
  name: 'status_get',
  about: 'Everything that is happening: what needs a person, pipelines with their steps, agents, tasks by status.',
  access: PEOPLE,
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: {} },
});

export const runbookRules = operation({
  name: 'runbook_rules',
  about: 'The runbook in force, and how the working file differs from it in the fields that decide about gates.',
  access: PEOPLE,
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: {} },
});

export const runbookAdopt = operation({
  name: 'runbook_adopt',
  about: 'Put the working runbook in force. If it loosens the rules, its hash has to be named.',
  access: PEOPLE,
  kind: 'write',
  tool: false,
  shape: { kind: 'object', fields: { accept_rules: acceptRules } },
});
