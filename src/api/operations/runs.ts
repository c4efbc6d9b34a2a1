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
import { description, tasksOfRun } from './import.ts';
import { operation } from './operation.ts';
import { acceptRules, adoptedRules } from './rules.ts';

const PEOPLE = { access: ['operator'], tool: false } as const;

const all = optional(flag, 'Also the ones that are over.');
const pipelineId = { kind: 'text', notEmpty: true, about: 'The id of the pipeline, or the beginning of it.' } as const;
const agentId = { kind: 'text', notEmpty: true, about: 'The id of the agent, or the beginning of it.' } as const;
const reason = optional(text, 'Why; it is recorded.');
const waitMs = {
  kind: 'number',
  min: 0,
  max: 86_400_000,
  whole: true,
  optional: true,
  about: 'Wait at most this long, in milliseconds, until it is over or needs a person. Do not poll.',
} as const;

const named = object({
  name: { kind: 'text', notEmpty: true, about: 'A command, pipeline or agent of the runbook.' },
  args: optional(list(text), 'Its arguments, as they are typed.'),
  kind: optional(choice(['agent']), '`agent`: start the agent, even if a command or a pipeline has the same name.'),
  import: optional(
    tasksOfRun,
    'For the workflow `issue`: tasks to create first, as task_import does, in the same commit. Name them with --task.',
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
      'Confirms that nothing is checked before a merge, if the runbook does not set ci.required. It is recorded, once.',
    ),
  }),
  result: object({
    kind: choice(['agent', 'pipeline', 'workflow']),
    id: text,
    ids: optional(list(text), 'Of a workflow: the ids of all started tasks; `id` is the first.'),
    rules: optional(adoptedRules, 'The rules that this call put in force, if they differ from the rules before.'),
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
  vars: { kind: 'map', of: text, names: {}, about: 'The values of the variables.' },
  plan: { ...typed<Plan | IssuePlan>(), about: 'What would run, with all defaults.' },
  sandboxes: {
    ...list(
      object({
        agent: text,
        summary: { ...text, about: 'As in `bubblewrap, network full`.' },
        notes: { ...list(text), about: 'Protections that it would lack.' },
      }),
    ),
    about: 'The sandbox and the network that each agent would have on this machine.',
  },
  entries: {
    ...typed<readonly { readonly type: string; readonly data: object }[]>(),
    about: 'What would be recorded first.',
  },
  effects: { ...typed<readonly PlannedEffect[]>(), about: 'The effects that would run first.' },
});

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
    'Show what run_start would do with the same input: the plan, and its first entries and effects. Nothing is started.',
  maxBytes: PROTOCOL_LIMITS.importBytes,
  input: named,
  result: runPreview,
});

export const pipelineList = operation({
  ...PEOPLE,
  name: 'pipeline_list',
  about: 'List the running pipelines, oldest first, each with its step.',
  input: object({ all }),
  result: object({ pipelines: list(pipelineView) }),
});

export const pipelineShow = operation({
  ...PEOPLE,
  name: 'pipeline_show',
  about:
    'Show one pipeline with its steps. With wait_ms the answer comes when the pipeline is over or waits for a person.',
  input: object({ id: pipelineId, wait_ms: waitMs }),
  result: pipelineView,
});

export const pipelineCancel = operation({
  name: 'pipeline_cancel',
  about: 'Cancel a pipeline, and everything that runs in it.',
  command: 'cancel-pipeline',
  tool: false,
  input: object({ id: pipelineId, reason }),
  result: object({ id: text }),
});

export const pipelineRetry = operation({
  name: 'pipeline_retry',
  about:
    'Retry the step at which a pipeline waits. A pipeline that failed or was cancelled is run again, under a new id.',
  command: 'retry-pipeline',
  tool: false,
  input: object({ id: pipelineId }),
  result: object({ id: text }),
});

export const runAck = operation({
  name: 'run_ack',
  about: 'Acknowledge a pipeline or agent that failed: it no longer needs a person.',
  command: 'acknowledge-run',
  tool: false,
  input: object({ id: { ...text, about: 'The run, or the beginning of its id.' } }),
  result: object({ id: text }),
});

export const pipelineResume = operation({
  name: 'pipeline_resume',
  about:
    'Resume a pipeline that waits: its agent continues in the same conversation, with the message if there is one.',
  command: 'resume-pipeline',
  tool: false,
  input: object({ id: pipelineId, message: optional(text, 'The message to the agent.') }),
  result: object({ id: text }),
});

export const agentList = operation({
  ...PEOPLE,
  name: 'agent_list',
  about: 'List the running agents, oldest first.',
  input: object({ all }),
  result: object({ agents: list(agentView) }),
});

const agentDetails = object({
  ...agentView.fields,
  env_dropped: {
    ...nullable(list(text)),
    about: "The names of the daemon's environment variables that its newest process did not get.",
  },
  hosts: {
    ...list(
      object({
        host: text,
        allowed: { ...whole, about: 'How many requests were allowed.' },
        refused: { ...whole, about: 'How many requests were refused.' },
      }),
    ),
    about: "The hosts that its last process asked Baton's proxy for.",
  },
});
export type AgentDetails = ValueOf<typeof agentDetails>;

export const agentShow = operation({
  ...PEOPLE,
  name: 'agent_show',
  about:
    'Show one agent: its status, its process, its output. With wait_ms the answer comes when the agent is over or needs a person.',
  input: object({ id: agentId, wait_ms: waitMs }),
  result: agentDetails,
});

const steered = object({
  id: text,
  outcome: optional(choice(['done', 'failed', 'cancelled']), 'How the run ended, if it was already over.'),
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
    'Open the conversation of an agent in a terminal, in the interactive mode of its client. Baton stops its process; the next one waits for the terminal.',
  command: 'attach-agent',
  tool: false,
  input: object({
    id: agentId,
    by: { kind: 'text', notEmpty: true, about: 'The person and the terminal; it is recorded.' },
  }),
  result: object({
    id: text,
    start: { ...whole, about: 'The number of the process that waits for the terminal.' },
    folder: { ...text, about: 'The folder with the files of the run.' },
  }),
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
  about: 'Show what needs a person, the pipelines with their steps, the agents, and the number of tasks by status.',
  input: nothing,
  result: statusView,
});
