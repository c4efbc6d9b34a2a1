import type { StoreHealth } from '../protocol/resource-faults.ts';
import { HANDLERS } from '../protocol/run-plan.ts';
import type { ValueOf } from '../protocol/shape/shape.ts';
import { fleetView } from './fleet-view.ts';
import { REASON_KINDS } from './all-clear.ts';
import { workflowBrief } from './stage-views.ts';
import {
  choice,
  count,
  flag,
  list,
  nullable,
  object,
  optional,
  text,
  typed,
  whole,
} from '../protocol/shape/build-shape.ts';

/** The texts come from agents and people, so they must be escaped before printing. */
const outcome = choice(['done', 'failed', 'cancelled']);

const sandboxView = object({
  kind: { ...text, about: '`bubblewrap`, `container`, `user`, `sandbox-exec` or `none`.' },
  network: { ...nullable(text), about: '`full`, `host`, `model`, `none`, or the hosts.' },
  limits: { ...nullable(text), about: 'What enforces its limits of memory and processes.' },
  notes: { ...list(text), about: 'Protections that it lacks, or access that it has in addition.' },
  summary: { ...text, about: 'The same as a text: `bubblewrap, network full`, or `no sandbox`.' },
});

const host = { ...optional(text), about: 'The host that runs it; left out if the project has only one.' } as const;

export const agentView = object({
  id: text,
  name: { ...text, about: 'Its name in the runbook.' },
  host,
  status: {
    ...choice(['starting', 'running', 'attached', 'escalated', 'leaving', 'done', 'failed', 'cancelled']),
    about: '`escalated`: it waits for a person. `leaving`: its run is over, and its process still has to end.',
  },
  run: { ...text, about: 'The program: `scripted`, `claude`, a command.' },
  role: nullable(text),
  pipeline_id: nullable(text),
  step: { ...nullable(text), about: 'The step of the pipeline that it works for.' },
  task_id: nullable(text),
  worker: { ...nullable(text), about: 'The worker that started it.' },
  on_stop: { ...choice(HANDLERS.on_stop.actions), about: 'The handler for its stops.' },
  process: {
    ...choice(['wanted', 'running', 'gone']),
    about: '`wanted`: its process has not started yet; `gone`: it has ended.',
  },
  start: { ...whole, about: 'The number of its process, from 1.' },
  pid: nullable(whole),
  sandbox: { ...nullable(sandboxView), about: 'The sandbox of its newest process; null if there is no record.' },
  attached: { ...nullable(text), about: 'The person who has it in a terminal, or is about to; null if there is none.' },
  interactive: { ...flag, about: 'A person can attach: its client has an interactive mode.' },
  signal: {
    ...nullable(object({ kind: choice(['complete', 'escalate']), message: nullable(text) })),
    about: 'Its last signal.',
  },
  decision_id: { ...nullable(text), about: 'The decision that it waits for.' },
  outcome: { ...nullable(outcome), about: 'How the run ended; null while it runs.' },
  reason: { ...nullable(text), about: 'Why the run ended, or why it waits.' },
  exit: {
    ...nullable(
      object({
        code: nullable(whole),
        signal: { ...nullable(text), about: 'The signal of the operating system that ended it.' },
        timed_out: { ...flag, about: 'Baton ended it, because the run took longer than its `timeout`.' },
        blocks_used: { ...flag, about: 'It was allowed to stop after `limits.blocks` blocked stops.' },
        output: { ...nullable(text), about: 'The end of its output.' },
        at: text,
      }),
    ),
    about: 'The end of its newest process; null while it runs.',
  },
  usage: {
    ...nullable(
      object({
        conversation_id: { ...nullable(text), about: 'The conversation of the client.' },
        model: nullable(text),
        input_tokens: count,
        output_tokens: count,
        cached_tokens: { ...count, about: 'Input tokens that the client read from its cache.' },
        cost_millicents: { ...nullable(count), about: 'In thousandths of a cent.' },
        turns: { ...count, about: 'How many turns have ended.' },
        waiting_tokens: { ...count, about: 'Tokens that were used without a prompt or message.' },
        unpriced_tokens: optional(count, 'Tokens without a known price: the cost does not include them.'),
        reserved_tokens: optional(count, 'The most tokens that requests in progress may use.'),
        reserved_millicents: optional(count, 'The most that requests in progress may cost.'),
        client_tokens: optional(
          count,
          'All tokens as the client counts them. Present if Baton injects the key: the other figures are then its own measurement.',
        ),
      }),
    ),
    about: 'What the run has used, over all its processes; null if the client reports no usage.',
  },
  requested_at: text,
  folder: { ...text, about: 'The folder with the files of the run.' },
  log: { ...text, about: 'The file with its output.' },
});
export type AgentView = ValueOf<typeof agentView>;

const stepView = object({
  name: text,
  kind: choice(['shell', 'agent', 'pipeline']),
  status: choice(['pending', 'running', 'waiting', 'done', 'failed', 'cancelled']),
  visits: { ...count, about: 'How often the pipeline has entered the step.' },
  reason: { ...nullable(text), about: 'Why it waits, failed or was cancelled.' },
  output: { ...nullable(text), about: 'The end of its output.' },
  exit_code: nullable(whole),
  since: { ...nullable(text), about: 'When it got this status.' },
  agent_id: nullable(text),
  agent_status: nullable(agentView.fields.status),
  command_id: { ...nullable(text), about: 'The command of a shell step, for `agent_log`.' },
  log: { ...nullable(text), about: 'The file with the output of its command.' },
  pipeline_id: { ...nullable(text), about: 'The nested pipeline that runs it.' },
});
export type StepView = ValueOf<typeof stepView>;

export const pipelineView = object({
  id: text,
  name: text,
  host,
  status: choice(['running', 'waiting', 'done', 'failed', 'cancelled']),
  step: { ...nullable(text), about: 'The current step; null if the pipeline is over.' },
  reason: { ...nullable(text), about: 'Why it waits, failed or was cancelled.' },
  decision_id: { ...nullable(text), about: 'The decision that it, or a pipeline inside it, waits for.' },
  vars: { kind: 'map', of: text, names: {}, about: 'The values of its variables.' },
  parent: {
    ...nullable(object({ pipeline_id: text, step: text })),
    about: 'The step of another pipeline that runs it.',
  },
  task_id: nullable(text),
  worker: { ...nullable(text), about: 'The worker that started it.' },
  workspace: { ...nullable(object({ path: text, branch: text })), about: 'The worktree of its steps.' },
  started_at: text,
  ended_at: nullable(text),
  steps: list(stepView),
});
export type PipelineView = ValueOf<typeof pipelineView>;

export const decisionView = object({
  id: text,
  status: choice(['open', 'resolved', 'withdrawn']),
  source: { ...text, about: 'Why it was opened: `dead`, `budget`, `gate` and so on.' },
  title: text,
  context: { ...text, about: 'The facts that the person needs.' },
  options: list(
    object({
      n: { ...whole, about: 'The number of the option, from 1.' },
      label: text,
      action: { ...text, about: 'What the option does, as a fixed word such as `resume`.' },
      recommended: flag,
    }),
  ),
  agent_id: { ...nullable(text), about: 'The agent that it is about.' },
  pipeline_id: { ...nullable(text), about: 'The pipeline that it is about.' },
  task_id: { ...nullable(text), about: 'The task that it is about.' },
  opened_at: text,
  answer: {
    ...nullable(
      object({
        option: whole,
        action: text,
        label: { ...text, about: 'The label of the chosen option.' },
        by: { ...text, about: 'Who answered.' },
        at: text,
        message: { ...nullable(text), about: 'The note of the answer.' },
        agent: { ...nullable(text), about: 'With `hand_over`: the agent that gets the work.' },
        effective_at: { ...text, about: 'When it takes effect. Until then `decision_undo` withdraws it.' },
        seq: { ...whole, about: 'The entry that recorded it; `decision_undo` names it.' },
      }),
    ),
    about: 'An answer that is not in effect yet; the decision needs no person, and its `status` is still open.',
  },
  lapsed: {
    ...nullable(
      object({
        option: whole,
        label: text,
        by: { ...text, about: 'Who gave the answer.' },
        at: text,
        reason: { ...text, about: 'Why it did not take effect.' },
      }),
    ),
    about: 'The last answer that did not take effect because something changed; null if there is none.',
  },
  result: {
    ...nullable(
      object({
        kind: choice(['resolved', 'withdrawn']),
        at: text,
        option: optional(whole, 'The chosen option.'),
        action: optional(text),
        by: optional(text, 'Who answered.'),
        message: optional(nullable(text), 'The note of the answer.'),
        reason: optional(text, 'Why Baton withdrew the decision.'),
      }),
    ),
    about: 'Null while it is open. `resolved` has `option`, `action`, `by` and `message`; `withdrawn` has `reason`.',
  },
});
export type DecisionView = ValueOf<typeof decisionView>;

const attentionView = object({
  kind: { ...choice(REASON_KINDS), about: 'The kind of reason, as in docs/pipelines.md.' },
  count: { ...count, about: 'How many things the item stands for.' },
  task_id: nullable(text),
  title: text,
  context: { ...text, about: 'More about it.' },
  next: { ...text, about: 'The command to type.' },
});
export type AttentionView = ValueOf<typeof attentionView>;

export const statusView = object({
  seq: { ...whole, about: 'The newest entry that the answer includes.' },
  importing: { ...nullable(text), about: 'The progress of the first copy of the repository; null if it is complete.' },
  all_clear: { ...flag, about: 'Nothing needs a person, and the daemon has proof of it.' },
  summary: { ...text, about: 'The verdict as a text, which every surface shows.' },
  needs: { ...count, about: 'How many things need a person.' },
  running: { ...count, about: 'How many agents and pipelines run.' },
  needs_you: { ...list(decisionView), about: 'The open decisions that nobody has answered.' },
  answered: { ...list(decisionView), about: 'The decisions whose answer is not in effect yet.' },
  attention: { ...list(attentionView), about: 'Everything else that needs a person.' },
  pipelines: list(pipelineView),
  agents: list(agentView),
  workflows: {
    ...list(workflowBrief),
    about:
      'The workflows that are not over: first those that wait for a person, then those that changed last. At most 50.',
  },
  workers: list(object({ name: text, concurrency: whole, busy: { ...count, about: 'How many tasks it works on.' } })),
  tasks: {
    ...object({ todo: count, in_progress: count, blocked: count, done: count, cancelled: count }),
    about: 'How many tasks have each status.',
  },
  store: {
    ...typed<StoreHealth>(),
    about: 'Whether the ledger and the state folder can be written; if not, since when, why, and what to do.',
  },
  fleet: { ...optional(fleetView), about: 'The hosts; left out if the project is on one machine.' },
  at: text,
});
export type StatusView = ValueOf<typeof statusView>;
