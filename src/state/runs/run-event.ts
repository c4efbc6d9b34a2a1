import { judgeShape } from '../../protocol/handoff/judge.ts';
import { PHASES } from '../../protocol/phase.ts';
import { FINDING_KINDS } from '../../protocol/shape/shared-fields.ts';
import {
  AGENT_ERRORS,
  type AgentPlan,
  HANDLER_ACTIONS,
  HANDLER_NAMES,
  HANDLERS,
  type Plan,
  type WorkerPlan,
} from '../../protocol/run-plan.ts';
import {
  flag,
  whole,
  list,
  map,
  nullable,
  object,
  choice,
  optional,
  text,
  typed,
  variants,
} from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { budgetScope, MEASURES } from './budget-scope.ts';
import { DECISION_ACTIONS, DECISION_SOURCES, decisionOption } from './decision.ts';

export const claimRef = object({ task_id: text, epoch: whole, session_id: text });
export type TaskRef = ValueOf<typeof claimRef>;

/** The pipeline and step that contain a nested pipeline or an agent. */
const stepRef = object({ pipeline_id: text, step: text });
const outcome = choice(['done', 'failed', 'cancelled']);
export type RunOutcome = ValueOf<typeof outcome>;
const handler = { agent_id: text, handler: choice(HANDLER_NAMES), error: nullable(choice(AGENT_ERRORS)) };
const stepVisit = { pipeline_id: text, step: text, visit: whole };

/** What a command runs for: a step of a pipeline, or a handler's gate. */
const subject = variants({ step: stepVisit, gate: handler });
export type EffectSubject = ValueOf<typeof subject>;

const timerPurpose = variants({
  /** The cooldown of a handler ends: the delayed action is due. */
  handler,
  /** The limit of an API ends: the agent continues. */
  reset: { agent_id: text },
  step: stepVisit,
  retry: stepVisit,
  /** A task has stayed in a phase for too long. */
  stall: { task_id: text, phase: choice(PHASES), since: whole },
  /** A task's recoverable error is retried. */
  unblock: { task_id: text, since: whole },
  /** An agent whose run has ended has not exited by itself. */
  leave: { agent_id: text },
  /** The earliest time at which a time budget can be used up. */
  budget: { scope: budgetScope },
  /** The day ends, and its budget with it. */
  day: { day: text },
});
export type TimerPurpose = ValueOf<typeof timerPurpose>;

/** The amount in tokens, thousandths of a cent, or milliseconds. */
const budgetReading = { scope: budgetScope, measure: choice(MEASURES), used: whole, limit: whole };

/**
 * The entries about pipelines, agents, decisions, budgets and notifications. An entry requests each effect
 * (`…Requested`, `TimerSet`): the effect is owed until another entry records its outcome, and a restarted daemon reads
 * the owed effects from the state.
 */
export const RUN_EVENTS = {
  WorkersConfigured: { workers: list(typed<WorkerPlan>()) },

  PipelineStarted: {
    pipeline_id: text,
    name: text,
    vars: map(text),
    /** Null in a nested pipeline, which follows its root's plan. */
    plan: nullable(typed<Extract<Plan, { kind: 'pipeline' }>>()),
    parent: nullable(stepRef),
    task: nullable(claimRef),
    worker: nullable(text),
    /** The host of the pipeline and everything inside it; absent on SQLite. */
    host: optional(text),
  },
  /**
   * `retry`: whether this is one of the retries that `on_fail` allows. A step that is entered in any other way gets all
   * retries again.
   */
  StepStarted: { ...stepVisit, retry: flag },
  StepWaiting: { pipeline_id: text, step: text, reason: text, decision_id: text },
  StepResumed: { pipeline_id: text, step: text },
  /** `output`: the end of the step's output, for `${step.NAME.output}`. */
  StepFinished: { pipeline_id: text, step: text, outcome, reason: nullable(text), output: nullable(text) },
  PipelineFinished: { pipeline_id: text, outcome, reason: nullable(text) },
  PipelineCancelRequested: { pipeline_id: text, reason: text },
  /** A person has seen that a pipeline or an agent failed; it needs nobody any more. */
  RunAcknowledged: { run_id: text },

  WorkspaceRequested: { pipeline_id: text, step: text, branch: text, base: nullable(text) },
  WorkspacePrepared: { pipeline_id: text, path: text, branch: text },
  WorkspaceFailed: { pipeline_id: text, step: text, reason: text },

  /** The first process of a run. `owner` is null for a run outside of pipelines. */
  AgentRequested: {
    agent_id: text,
    plan: typed<AgentPlan>(),
    owner: nullable(stepRef),
    vars: map(text),
    task: nullable(claimRef),
    worker: nullable(text),
    on_stop: choice(HANDLERS.on_stop.actions),
    /** A person's answer, for which the agent was started: it follows the prompt. */
    note: optional(text),
    /** The only host that starts, messages, measures or ends the agent; absent on SQLite. */
    host: optional(text),
  },
  /**
   * A further process of the same run, which continues the conversation. `append`: the message follows the prompt
   * instead of replacing it.
   */
  AgentResumeRequested: { agent_id: text, start: whole, message: nullable(text), append: flag },
  /**
   * `supervisor` and `process`: boot id, pid and start time. The other fields describe its sandbox; absent if there is
   * no record of one.
   */
  AgentStarted: {
    agent_id: text,
    start: whole,
    supervisor: text,
    process: text,
    /** The sandbox's kind; `none` if there is none. */
    sandbox: optional(text),
    /** The network policy: `full`, `host`, `model`, `none`, or the hosts. */
    network: optional(text),
    /** The mechanism that enforces the limits. */
    limits: optional(text),
    /** What the sandbox lacks or additionally has. */
    sandbox_notes: optional(list(text)),
    /** What is known about the client of a judging session: see `src/protocol/handoff/judge.ts`. */
    judge: optional(judgeShape),
  },
  AgentStartFailed: { agent_id: text, start: whole, reason: text },
  AgentSignalled: { agent_id: text, kind: choice(['complete', 'escalate']), message: nullable(text) },
  AgentIdle: { agent_id: text, why: choice(['stop', 'waiting', 'quiet']) },
  AgentStop: { agent_id: text },
  /** A stop was blocked. `blocks`: the number of blocks in the run, including this one. */
  AgentBlocked: { agent_id: text, blocks: whole },
  /**
   * No event during a turn for `limits.silence`, or a tool call open for `limits.tool`. `tool` is null for a silent
   * turn.
   */
  AgentSilent: { agent_id: text, what: choice(['turn', 'tool']), for_ms: whole, tool: nullable(text) },
  /** The agent printed output while a decision about its silence was open. */
  AgentHeard: { agent_id: text },
  AgentPrompted: { agent_id: text, prompt: text },
  /** `reset_at`: when a limit ends; RFC 3339. */
  AgentErrored: { agent_id: text, error: choice(AGENT_ERRORS), message: text, reset_at: nullable(text) },
  /** `blocks_used`: the agent was allowed to stop without a signal, after as many blocks as `attempts` allows. */
  AgentExited: {
    agent_id: text,
    start: whole,
    code: nullable(whole),
    signal: nullable(text),
    timed_out: flag,
    blocks_used: flag,
    output: nullable(text),
    /** The hosts that it requested through Baton's proxy, the most frequent ones. */
    hosts: optional(list(object({ host: text, allowed: whole, refused: whole }))),
  },
  /** The agent waits for the answer to a decision; it keeps its claim. */
  AgentParked: { agent_id: text, decision_id: text, reason: text },
  /** `keeps_counts`: no person decided, so the counts of attempts and resumes are not reset. */
  AgentUnparked: { agent_id: text, keeps_counts: optional(flag) },
  /** The run has its outcome; its process may not have exited yet. */
  AgentEnded: { agent_id: text, outcome, reason: nullable(text) },
  AgentKillRequested: { agent_id: text, reason: text },
  /** Process `start` is stopped, and the next one continues the conversation with `message`. */
  AgentRestartRequested: { agent_id: text, start: whole, message: text },
  /** A user wants the conversation in their own terminal: the previous process is stopped, and `start` is theirs. */
  AgentAttachRequested: { agent_id: text, start: whole, by: text },
  AgentAttached: { agent_id: text, start: whole, by: text },
  /** `absent`: the user never connected. `talked`: a message was exchanged. */
  AgentDetached: {
    agent_id: text,
    start: whole,
    by: text,
    how: choice(['left', 'lost', 'absent', 'ended']),
    talked: flag,
  },
  /** `wakes`: deliver only if the turn has ended, since a running turn needs no wake-up. */
  MessageRequested: { message_id: text, agent_id: text, text, wakes: optional(flag) },
  MessageDelivered: { message_id: text, agent_id: text, ok: flag, reason: nullable(text) },

  /** `attempt`: how often the handler has acted since the agent last made progress. */
  HandlerTried: {
    agent_id: text,
    handler: choice(HANDLER_NAMES),
    attempt: whole,
    action: choice(HANDLER_ACTIONS),
  },

  CommandRequested: { command_id: text, subject, command: text, timeout_ms: nullable(whole) },
  CommandFinished: {
    command_id: text,
    subject,
    exit_code: nullable(whole),
    timed_out: flag,
    output: nullable(text),
    /** The kind of sandbox of the command; absent if there is no record. */
    sandbox: optional(text),
  },
  /** The result is no longer needed: the command is stopped. */
  CommandCancelled: { command_id: text },

  TimerSet: { timer_id: text, due: text, purpose: timerPurpose },
  TimerFired: { timer_id: text, purpose: timerPurpose },
  TimerCancelled: { timer_id: text },

  DecisionOpened: {
    decision_id: text,
    source: choice(DECISION_SOURCES),
    title: text,
    context: text,
    options: list(decisionOption),
    agent_id: nullable(text),
    pipeline_id: nullable(text),
    task_id: nullable(text),
    scope: optional(budgetScope),
    adopts: optional(object({ sha256: text, commit: text })),
    /** The main branch, if the decision is about moves that no person has accepted. */
    branch: optional(text),
    /** The task of a person, if the decision is about tasks that sessions below it proposed. */
    proposals_of: optional(text),
    /** The reported check, if the decision is whether the report counts. */
    check: optional(object({ checks_id: text, name: text })),
    /** Set if the decision is withdrawn as soon as the agent prints again. */
    until_heard: optional(flag),
    /** The kind of a finding of reconciliation. Rules decide by it, never by the text. */
    finding: optional(choice(FINDING_KINDS)),
  },
  /** Only in older ledgers: a changed question replaces the decision now. */
  DecisionExtended: { decision_id: text, context: text },
  /** The entry's actor answered. The answer takes effect at `effective_at`, unless it is withdrawn before. */
  DecisionAnswered: {
    decision_id: text,
    option: whole,
    action: choice(DECISION_ACTIONS),
    message: nullable(text),
    hand_to: optional(typed<AgentPlan>()),
    /** An RFC 3339 time. */
    effective_at: text,
  },
  /** The answer will not take effect: the entry's actor withdrew it, or it lapsed for `reason`. */
  DecisionAnswerWithdrawn: { decision_id: text, reason: nullable(text) },
  /**
   * The answer is in effect. The entry's actor answered at the entry's time, unless `by` names an earlier answer's
   * author.
   */
  DecisionResolved: {
    decision_id: text,
    option: whole,
    action: choice(DECISION_ACTIONS),
    message: nullable(text),
    /** For `hand_over`: the agent that gets the work. */
    hand_to: optional(typed<AgentPlan>()),
    by: optional(text),
  },
  DecisionWithdrawn: { decision_id: text, reason: text },

  /** Most of a budget is used, and people are notified once. */
  BudgetWarned: budgetReading,
  /** Cost is limited, and no price is known for the model. */
  BudgetUnpriced: { scope: budgetScope, model: nullable(text) },
  /** A budget is used up: agents that it limits are parked until the decision. */
  BudgetReached: { ...budgetReading, decision_id: text },
  /** `raises`: how often the budget's own amount was added, in total. */
  BudgetRaised: { scope: budgetScope, raises: whole },

  NotificationRequested: {
    notification_id: text,
    kind: choice(['attention', 'warning', 'done', 'failed']),
    title: text,
    message: text,
    decision_id: nullable(text),
  },
  /** `called_off`: why the notification was not sent at all. */
  NotificationSent: {
    notification_id: text,
    sent: list(text),
    failed: list(object({ channel: text, reason: text })),
    called_off: optional(text),
  },
} as const;
