import type { StoreHealth } from '../protocol/resource-faults.ts';
import { HANDLERS } from '../protocol/run-plan.ts';
import type { ValueOf } from '../protocol/shape/shape.ts';
import { fleetView } from './fleet-view.ts';
import { REASON_KINDS } from './all-clear.ts';
import { stageView, workflowBrief } from './stage-views.ts';
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
  limits: { ...nullable(text), about: 'What enforces its limits.' },
  notes: { ...list(text), about: 'What it lacks or has on top.' },
  summary: { ...text, about: 'In words: `bubblewrap, network full`, or `no sandbox`.' },
});

const host = { ...optional(text), about: 'The host that runs it; left out if the project has only one.' } as const;

export const agentView = object({
  id: text,
  name: text,
  host,
  status: choice(['starting', 'running', 'attached', 'escalated', 'leaving', 'done', 'failed', 'cancelled']),
  run: { ...text, about: 'What was started: `scripted`, `claude`, a command.' },
  role: nullable(text),
  pipeline_id: nullable(text),
  step: nullable(text),
  task_id: nullable(text),
  worker: nullable(text),
  on_stop: choice(HANDLERS.on_stop.actions),
  process: choice(['wanted', 'running', 'gone']),
  start: { ...whole, about: 'Process number, starting at 1.' },
  pid: nullable(whole),
  sandbox: { ...nullable(sandboxView), about: 'That of its newest process; null if there is no record.' },
  attached: { ...nullable(text), about: 'Who has it in their terminal now, or is about to.' },
  interactive: { ...flag, about: 'Its client has an interactive mode that a person can take it into.' },
  signal: nullable(object({ kind: choice(['complete', 'escalate']), message: nullable(text) })),
  decision_id: { ...nullable(text), about: 'The decision that it waits for.' },
  outcome: nullable(outcome),
  reason: nullable(text),
  exit: nullable(
    object({
      code: nullable(whole),
      signal: nullable(text),
      timed_out: flag,
      blocks_used: flag,
      output: { ...nullable(text), about: 'The end of what it printed.' },
      at: text,
    }),
  ),
  usage: nullable(
    object({
      conversation_id: nullable(text),
      model: nullable(text),
      input_tokens: count,
      output_tokens: count,
      cached_tokens: count,
      cost_millicents: nullable(count),
      turns: count,
      waiting_tokens: count,
      unpriced_tokens: optional(count),
      reserved_tokens: optional(count),
      reserved_millicents: optional(count),
    }),
  ),
  requested_at: text,
  folder: text,
  log: { ...text, about: 'The file with everything that it printed.' },
});
export type AgentView = ValueOf<typeof agentView>;

const stepView = object({
  name: text,
  kind: choice(['shell', 'agent', 'pipeline']),
  status: choice(['pending', 'running', 'waiting', 'done', 'failed', 'cancelled']),
  visits: { ...count, about: 'How often it was entered.' },
  reason: nullable(text),
  output: { ...nullable(text), about: 'The end of what it printed.' },
  exit_code: nullable(whole),
  since: nullable(text),
  agent_id: nullable(text),
  agent_status: nullable(agentView.fields.status),
  command_id: nullable(text),
  log: { ...nullable(text), about: 'The file with everything that its command printed.' },
  pipeline_id: { ...nullable(text), about: 'The nested pipeline that runs it.' },
});
export type StepView = ValueOf<typeof stepView>;

export const pipelineView = object({
  id: text,
  name: text,
  host,
  status: choice(['running', 'waiting', 'done', 'failed', 'cancelled']),
  step: nullable(text),
  reason: nullable(text),
  decision_id: { ...nullable(text), about: 'The decision that it, or a pipeline inside it, waits for.' },
  vars: { kind: 'map', of: text, names: {} },
  parent: nullable(object({ pipeline_id: text, step: text })),
  task_id: nullable(text),
  worker: nullable(text),
  workspace: nullable(object({ path: text, branch: text })),
  started_at: text,
  ended_at: nullable(text),
  steps: list(stepView),
});
export type PipelineView = ValueOf<typeof pipelineView>;

export const decisionView = object({
  id: text,
  status: choice(['open', 'resolved', 'withdrawn']),
  source: text,
  title: text,
  context: text,
  options: list(object({ n: { ...whole, about: 'From 1.' }, label: text, action: text, recommended: flag })),
  agent_id: nullable(text),
  pipeline_id: nullable(text),
  task_id: nullable(text),
  opened_at: text,
  answer: {
    ...nullable(
      object({
        option: whole,
        action: text,
        label: text,
        by: text,
        at: text,
        message: nullable(text),
        agent: { ...nullable(text), about: 'For hand_over: the agent that gets the work.' },
        effective_at: { ...text, about: '`decision_undo` withdraws the answer until then.' },
      }),
    ),
    about: 'An answer that is not in effect yet; the decision needs nobody, and its `status` is still open.',
  },
  lapsed: {
    ...nullable(object({ option: whole, label: text, by: text, at: text, reason: text })),
    about: 'The last answer that did not take effect because something changed; null if there is none.',
  },
  result: {
    ...nullable(
      object({
        kind: choice(['resolved', 'withdrawn']),
        at: text,
        option: optional(whole),
        action: optional(text),
        by: optional(text),
        message: optional(nullable(text)),
        reason: optional(text),
      }),
    ),
    about: 'Null while it is open. `resolved` has `option`, `action`, `by` and `message`; `withdrawn` has `reason`.',
  },
});
export type DecisionView = ValueOf<typeof decisionView>;

const changedFile = object({ path: text, action: text, additions: count, deletions: count });
const change = object({
  base: text,
  head: text,
  files: list(changedFile),
  total: object({ files: count, additions: count, deletions: count }),
});

/** A statement of a session, compared with what Baton measured. */
export const claimedFact = object({
  about: { ...text, about: 'As in `files`, `commits`, `tests`; each at most once.' },
  said: { ...nullable(text), about: 'Null: nothing.' },
  measured: { ...nullable(text), about: 'Null: Baton does not measure it, or has not yet.' },
  differs: flag,
});

export const decisionEvidence = object({
  goal: { ...nullable(text), about: 'The title of the task and its requirements.' },
  stage: { ...nullable(text), about: 'The phase of the task, the next role, and the rounds.' },
  stages: { ...list(stageView), about: 'Those of its workflow, with their times; empty if it is none.' },
  items: {
    ...list(object({ section: text, heading: text, title: text, author: text, entry: whole, at: text, text })),
    about: 'What was reported about the task that matters here, in the words of its authors.',
  },
  output: { ...nullable(text), about: 'The end of what the agent printed.' },
  diff: { ...nullable(change), about: 'The change so far; null if there is none.' },
  since_passed: {
    ...nullable(change),
    about: 'If a check has failed: what changed since all checks last passed. Null if they never did.',
  },
  mission: { ...nullable(text), about: 'What the agent was asked: its mission, or its prompt.' },
  budget: {
    ...nullable(object({ scope: text, measure: choice(['tokens', 'cost', 'time']), used: count, limit: count })),
    about: 'The budget that the question is about; cost in thousandths of a cent, time in milliseconds.',
  },
  checks: {
    ...list(
      object({
        name: text,
        outcome: choice(['passed', 'failed', 'cancelled', 'pending']),
        exit_code: nullable(whole),
        output: nullable(text),
      }),
    ),
    about: 'The newest required checks of the task, with the end of what each printed if it did not pass.',
  },
  findings: {
    ...list(object({ text, rounds: { ...count, about: 'In how many rounds in a row it was found.' } })),
    about: 'The last findings about the task.',
  },
  claims: {
    ...list(claimedFact),
    about: 'What the session that did the work said, beside what Baton measured.',
  },
  claims_by: { ...nullable(text), about: 'Whose session that was.' },
  waiting: {
    ...list(object({ kind: choice(['agent', 'pipeline', 'task']), id: text, name: text })),
    about: 'What goes on only when the question is answered.',
  },
  cost: {
    ...nullable(object({ tokens: count, cost_millicents: count, unpriced_tokens: count, work_ms: count })),
    about: 'Of the task so far.',
  },
  commands: { ...list(text), about: 'Commands that show more.' },
});
export type DecisionEvidence = ValueOf<typeof decisionEvidence>;

export const decisionDetails = object({
  ...decisionView.fields,
  evidence: { ...decisionEvidence, about: 'What a person needs to judge the question.' },
});
export type DecisionDetails = ValueOf<typeof decisionDetails>;

const attentionView = object({
  kind: choice(REASON_KINDS),
  count: { ...count, about: 'How many things it stands for.' },
  task_id: nullable(text),
  title: text,
  context: text,
  next: { ...text, about: 'The command to type.' },
});
export type AttentionView = ValueOf<typeof attentionView>;

export const statusView = object({
  seq: { ...whole, about: 'The newest entry that it takes into account.' },
  importing: { ...nullable(text), about: 'How far the first copy of the repository is, while it is made.' },
  all_clear: flag,
  summary: { ...text, about: 'The line that every surface shows.' },
  needs: { ...count, about: 'How many things need a person.' },
  running: count,
  needs_you: { ...list(decisionView), about: 'The open decisions that nobody has answered.' },
  answered: { ...list(decisionView), about: 'The decisions whose answer is not in effect yet.' },
  attention: { ...list(attentionView), about: 'What else needs a person.' },
  pipelines: list(pipelineView),
  agents: list(agentView),
  workflows: {
    ...list(workflowBrief),
    about: 'Those that are not over: those that wait for a person first, then those that changed last. At most 50.',
  },
  workers: list(object({ name: text, concurrency: whole, busy: count })),
  tasks: object({ todo: count, in_progress: count, blocked: count, done: count, cancelled: count }),
  store: typed<StoreHealth>(),
  fleet: { ...optional(fleetView), about: 'Its hosts; left out if the project is on one machine.' },
  at: text,
});
export type StatusView = ValueOf<typeof statusView>;
