import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import type { Plan } from '../../protocol/run-plan.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { agentView, pipelineView, statusView } from '../run-views.ts';
import {
  choice,
  flag,
  list,
  nothing,
  nullable,
  object,
  optional,
  text,
  typed,
  whole,
} from '../../protocol/shape/build-shape.ts';
import { description, importedTasks } from './import.ts';
import { operation } from './operation.ts';

const PEOPLE = { access: ['operator'], tool: false } as const;

/** An operator's consent to a runbook that loosens the rules in force. */
export const acceptRules = {
  kind: 'text',
  optional: true,
  pattern: '^[0-9a-f]{64}$',
  expected: 'the hash of a runbook',
  about: 'The hash of the working runbook, if it loosens the rules in force: you have seen how it differs.',
} as const;

const anything = { kind: 'any', nullable: true } as const;

export const adoptedRules = object({
  sha256: text,
  differences: list(
    object({ field: text, before: anything, after: anything, effect: choice(['tightens', 'loosens']) }),
  ),
  text: { ...text, about: 'The differences in words, one a line.' },
});

const rules = object({
  in_force: {
    ...nullable(object({ sha256: text, commit: nullable(text), committed: nullable(text), by: text, at: text })),
    about: 'Null before the first runbook is adopted.',
  },
  working: nullable(object({ ...adoptedRules.fields, loosens: flag })),
});
export type RunbookRules = ValueOf<typeof rules>;

export const runbookRules = operation({
  ...PEOPLE,
  name: 'runbook_rules',
  about: 'The runbook in force, and how the working file differs from it in the fields that decide about gates.',
  input: nothing,
  result: rules,
});

export const runbookAdopt = operation({
  ...PEOPLE,
  name: 'runbook_adopt',
  about: 'Put the working runbook in force. If it loosens the rules, its hash has to be named.',
  kind: 'write',
  input: object({ accept_rules: acceptRules }),
  result: adoptedRules,
});

const all = optional(flag, 'Also those that are over.');
const pipelineId = { kind: 'text', notEmpty: true, about: 'The id of the pipeline, or the beginning of it.' } as const;
const agentId = { kind: 'text', notEmpty: true, about: 'The id of the agent, or the beginning of it.' } as const;
const reason = optional(text, 'Why: it is recorded.');
const waitMs = {
  kind: 'number',
  min: 0,
  max: 86_400_000,
  whole: true,
  optional: true,
  about: 'Wait at most this long, in milliseconds, until it is over or needs a person; you are woken, never poll.',
} as const;

const named = object({
  name: { kind: 'text', notEmpty: true, about: 'A command, pipeline or agent of the runbook.' },
  args: optional(list(text), 'Its arguments, as they are typed.'),
  kind: optional(choice(['agent']), 'agent: only an agent, even if a command or a pipeline has the same name.'),
  import: optional(
    importedTasks,
    'For the workflow `issue`: tasks that are created first, as by task_import, in the same commit. Name them with --task.',
  ),
  description: {
    ...description,
    about: 'For the workflow `issue` with a title: the description of its task; at most 16 KiB.',
  },
});

export const runStart = operation({
  ...PEOPLE,
  name: 'run_start',
  about: 'Start a command, a pipeline or a standalone agent of the runbook by its name. Returns its kind and its id.',
  kind: 'write',
  maxBytes: PROTOCOL_LIMITS.importBytes,
  input: object({
    ...named.fields,
    accept_rules: acceptRules,
    accept_no_checks: optional(
      flag,
      'Your answer that nothing is checked before a merge, if the runbook does not set ci.required. It is recorded, once.',
    ),
  }),
  result: object({
    kind: choice(['agent', 'pipeline', 'workflow']),
    id: text,
    ids: optional(list(text), 'Of a workflow: the tasks of all that were started; `id` is the first.'),
    rules: optional(adoptedRules, 'The rules that were put in force for it, if they differ from those before.'),
  }),
});

export interface IssuePlan {
  readonly kind: 'workflow';
  readonly mode: string;
  readonly roles: readonly { readonly role: string; readonly agent: string; readonly run: string }[];
  readonly checks: readonly { readonly name: string; readonly run: string | null }[];
  readonly checks_answer: 'checked' | 'none' | 'declined' | 'unanswered';
  readonly merge: { readonly method: string; readonly into: string | null };
  /** The workers of the runbook that make workflows of tasks. */
  readonly workers: readonly { readonly name: string; readonly takes: string; readonly mode: string }[];
  /** The GitHub repository; empty if pull requests are requested but no repository is known. */
  readonly pull_requests: string | null;
  readonly lacks_gh: boolean;
}

const runPreview = object({
  name: text,
  vars: { kind: 'map', of: text, names: {} },
  plan: typed<Plan | IssuePlan>(),
  sandboxes: {
    ...list(object({ agent: text, summary: text, notes: list(text) })),
    about: 'The sandbox and the network that each agent would have on this machine.',
  },
  entries: { ...typed<readonly PlannedEntry[]>(), about: 'What would be recorded first.' },
  effects: { ...typed<readonly PlannedEffect[]>(), about: 'What would then be done outside.' },
});

export interface PlannedEntry {
  readonly type: string;
  readonly data: object;
}

export interface PlannedEffect {
  readonly kind: string;
  readonly agentId?: string;
  readonly command?: string;
  readonly branch?: string;
  readonly due?: string;
  readonly title?: string;
}

export type RunPreview = ValueOf<typeof runPreview>;

export const runPlan = operation({
  ...PEOPLE,
  name: 'run_plan',
  about:
    'What run_start with the same input would do: the plan, and the first things that would happen. Nothing is done.',
  maxBytes: PROTOCOL_LIMITS.importBytes,
  input: named,
  result: runPreview,
});

export const pipelineList = operation({
  ...PEOPLE,
  name: 'pipeline_list',
  about: 'The running pipelines, oldest first, each with its step.',
  input: object({ all }),
  result: object({ pipelines: list(pipelineView) }),
});

export const pipelineShow = operation({
  ...PEOPLE,
  name: 'pipeline_show',
  about: 'One pipeline with its steps. With wait_ms it answers when the pipeline is over or waits for a person.',
  input: object({ id: pipelineId, wait_ms: waitMs }),
  result: pipelineView,
});

export const pipelineCancel = operation({
  name: 'pipeline_cancel',
  about: 'Cancel a pipeline. What runs in it is stopped.',
  command: 'cancel-pipeline',
  tool: false,
  input: object({ id: pipelineId, reason }),
  result: object({ id: text }),
});

export const pipelineRetry = operation({
  name: 'pipeline_retry',
  about:
    'Retry the step at which a pipeline waits. A pipeline that failed or was cancelled is run again, under the id that is returned.',
  command: 'retry-pipeline',
  tool: false,
  input: object({ id: pipelineId }),
  result: object({ id: text }),
});

export const pipelineResume = operation({
  name: 'pipeline_resume',
  about: 'Resume a pipeline that waits: its agent is woken in the same conversation, with the message if there is one.',
  command: 'resume-pipeline',
  tool: false,
  input: object({ id: pipelineId, message: optional(text, 'The message to the agent.') }),
  result: object({ id: text }),
});

export const agentList = operation({
  ...PEOPLE,
  name: 'agent_list',
  about: 'The running agents, oldest first.',
  input: object({ all }),
  result: object({ agents: list(agentView) }),
});

const agentDetails = object({
  ...agentView.fields,
  env_dropped: {
    ...nullable(list(text)),
    about: "Names of the daemon's environment variables that its newest process did not get.",
  },
  hosts: {
    ...list(object({ host: text, allowed: whole, refused: whole })),
    about: "The hosts that its last process asked Baton's proxy for, with the number of requests.",
  },
});
export type AgentDetails = ValueOf<typeof agentDetails>;

export const agentShow = operation({
  ...PEOPLE,
  name: 'agent_show',
  about: 'One agent: its status, its process, its output. With wait_ms it answers when it is over or needs a person.',
  input: object({ id: agentId, wait_ms: waitMs }),
  result: agentDetails,
});

const steered = object({
  id: text,
  outcome: optional(choice(['done', 'failed', 'cancelled']), 'How it had ended, if it was over already.'),
});

export const agentSend = operation({
  name: 'agent_send',
  about: 'Send a message to an agent, in its conversation.',
  command: 'send-message',
  tool: false,
  input: object({ id: agentId, text: { kind: 'text', notEmpty: true, about: 'The message.' } }),
  result: steered,
});

export const agentAttach = operation({
  name: 'agent_attach',
  about:
    'A person takes the conversation of an agent over, in the interactive mode of its client: its process is stopped, and the one with the number `start` waits for their terminal.',
  command: 'attach-agent',
  tool: false,
  input: object({
    id: agentId,
    by: { kind: 'text', notEmpty: true, about: 'Who, and in front of which terminal: it is recorded.' },
  }),
  result: object({ id: text, start: whole, folder: text }),
});

export const agentKill = operation({
  name: 'agent_kill',
  about: 'Stop an agent and every process that it started.',
  command: 'kill-agent',
  tool: false,
  input: object({ id: agentId, reason }),
  result: steered,
});

export const statusGet = operation({
  ...PEOPLE,
  name: 'status_get',
  about: 'Everything that is happening: what needs a person, pipelines with their steps, agents, tasks by status.',
  input: nothing,
  result: statusView,
});
