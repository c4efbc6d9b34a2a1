import type {
  AgentError,
  AgentPlan,
  HandlerAction,
  HandlerName,
  Plan,
  StopAction,
  WorkerPlan,
} from '../../protocol/run-plan.ts';
import type { BudgetScope, Measure } from './budget-scope.ts';
import type { DecisionAction, DecisionOption, DecisionSource } from './decision.ts';
import type { EffectSubject, TimerPurpose } from './effect.ts';

/** What an agent is silent in: a turn of its model, or one tool call. */
export const SILENCE_KINDS = ['turn', 'tool'] as const;
export type SilenceKind = (typeof SILENCE_KINDS)[number];

/**
 * What can happen to pipelines, agents and decisions. What must be done outside (start, send, kill, run, wait, notify) is itself an
 * entry, `…Requested` or `TimerSet`: it is owed from the moment it is recorded until the entry that tells how it went, and a daemon
 * that starts anew reads from the state what is still owed.
 */
export interface RunEvents {
  /** The workers of the runbook as it stands now. */
  WorkersConfigured: { readonly workers: readonly WorkerPlan[] };

  PipelineStarted: {
    readonly pipeline_id: string;
    readonly name: string;
    readonly vars: Readonly<Record<string, string>>;
    /** Null in a nested pipeline: it keeps to the plan of its root. */
    readonly plan: Extract<Plan, { kind: 'pipeline' }> | null;
    readonly parent: { readonly pipeline_id: string; readonly step: string } | null;
    readonly task: TaskRef | null;
    readonly worker: string | null;
  };
  StepStarted: {
    readonly pipeline_id: string;
    readonly step: string;
    /** The how-manieth time, from 1. */
    readonly visit: number;
    /** One of the tries that `on_fail` allows; entered any other way, a step has all of them again. */
    readonly retry: boolean;
  };
  /** A person is needed before the step can go on. */
  StepWaiting: {
    readonly pipeline_id: string;
    readonly step: string;
    readonly reason: string;
    readonly decision_id: string;
  };
  StepResumed: { readonly pipeline_id: string; readonly step: string };
  StepFinished: {
    readonly pipeline_id: string;
    readonly step: string;
    readonly outcome: RunOutcome;
    readonly reason: string | null;
    /** The last words of its output, for `${step.NAME.output}`. */
    readonly output: string | null;
  };
  PipelineFinished: { readonly pipeline_id: string; readonly outcome: RunOutcome; readonly reason: string | null };
  /** Somebody wants it to end; agents are being stopped. */
  PipelineCancelRequested: { readonly pipeline_id: string; readonly reason: string };

  WorkspaceRequested: {
    readonly pipeline_id: string;
    readonly step: string;
    readonly branch: string;
    readonly base: string | null;
  };
  WorkspacePrepared: { readonly pipeline_id: string; readonly path: string; readonly branch: string };
  WorkspaceFailed: { readonly pipeline_id: string; readonly step: string; readonly reason: string };

  /** An agent is to be started: `start` 1. What it is told, and how it may stop, is settled here. */
  AgentRequested: {
    readonly agent_id: string;
    readonly plan: AgentPlan;
    /** Null for a standalone run. */
    readonly owner: { readonly pipeline_id: string; readonly step: string } | null;
    readonly vars: Readonly<Record<string, string>>;
    readonly task: TaskRef | null;
    readonly worker: string | null;
    readonly on_stop: StopAction;
  };
  /** The same agent in a new process, in the same conversation. */
  AgentResumeRequested: {
    readonly agent_id: string;
    readonly start: number;
    readonly message: string | null;
    /** The message is added to the prompt instead of standing in its place. */
    readonly append: boolean;
  };
  AgentStarted: {
    readonly agent_id: string;
    readonly start: number;
    /** Boot, number and start time of the supervisor and of the agent itself. */
    readonly supervisor: string;
    readonly process: string;
    /** The kind of sandbox that the agent runs in; left out: none. */
    readonly sandbox?: string;
  };
  AgentStartFailed: { readonly agent_id: string; readonly start: number; readonly reason: string };
  AgentSignalled: {
    readonly agent_id: string;
    readonly kind: 'complete' | 'escalate';
    readonly message: string | null;
  };
  AgentIdle: { readonly agent_id: string; readonly why: 'stop' | 'waiting' | 'quiet' };
  AgentStop: { readonly agent_id: string };
  /** A stop was blocked. `blocks`: how many of the run, this one included. */
  AgentBlocked: { readonly agent_id: string; readonly blocks: number };
  /** Nothing was heard from the agent during a turn (`limits.silence`), or a tool call has been open for too long (`limits.tool`). */
  AgentSilent: {
    readonly agent_id: string;
    readonly what: SilenceKind;
    /** For how long, when it was reported. */
    readonly for_ms: number;
    /** The tool that is open; null for a silent turn. */
    readonly tool: string | null;
  };
  /** The agent was heard again while a decision about its silence was open. */
  AgentHeard: { readonly agent_id: string };
  AgentPrompted: { readonly agent_id: string; readonly prompt: string };
  AgentErrored: {
    readonly agent_id: string;
    readonly error: AgentError;
    readonly message: string;
    /** When a limit is lifted; RFC 3339. */
    readonly reset_at: string | null;
  };
  AgentExited: {
    readonly agent_id: string;
    readonly start: number;
    readonly code: number | null;
    readonly signal: string | null;
    readonly timed_out: boolean;
    /** It was let go without a signal, after as many blocks as `attempts` allows. */
    readonly blocks_used: boolean;
    readonly output: string | null;
  };
  /** A person was called: it keeps its claim, and nothing is done to it until they answer. */
  AgentParked: { readonly agent_id: string; readonly decision_id: string; readonly reason: string };
  /** `keeps_counts`: no person decided, so the counts of attempts and resumes are not reset. */
  AgentUnparked: { readonly agent_id: string; readonly keeps_counts?: true };
  /** The end of the run, as far as others are concerned; its process may still have to leave. */
  AgentEnded: { readonly agent_id: string; readonly outcome: RunOutcome; readonly reason: string | null };
  AgentKillRequested: { readonly agent_id: string; readonly reason: string };
  /** The process `start` is ended, and the next one continues the conversation with `message`. */
  AgentRestartRequested: { readonly agent_id: string; readonly start: number; readonly message: string };
  /** A person wants the conversation in their own terminal: the process that has it stops, and `start` is theirs. */
  AgentAttachRequested: { readonly agent_id: string; readonly start: number; readonly by: string };
  AgentAttached: { readonly agent_id: string; readonly start: number; readonly by: string };
  AgentDetached: {
    readonly agent_id: string;
    readonly start: number;
    readonly by: string;
    /** They left the client, their terminal went away, they never came, or the run was ended under them. */
    readonly how: 'left' | 'lost' | 'absent' | 'ended';
    /** They, and the agent, said something. */
    readonly talked: boolean;
  };
  MessageRequested: {
    readonly message_id: string;
    readonly agent_id: string;
    readonly text: string;
    /** Only for one whose turn is over: who is in the middle of one goes on by itself. */
    readonly wakes?: boolean;
  };
  MessageDelivered: {
    readonly message_id: string;
    readonly agent_id: string;
    readonly ok: boolean;
    readonly reason: string | null;
  };

  /** A handler acts, for the `attempt`-th time since the agent last made progress. */
  HandlerTried: {
    readonly agent_id: string;
    readonly handler: HandlerName;
    readonly attempt: number;
    readonly action: HandlerAction;
  };

  CommandRequested: {
    readonly command_id: string;
    readonly subject: EffectSubject;
    readonly command: string;
    readonly timeout_ms: number | null;
  };
  CommandFinished: {
    readonly command_id: string;
    readonly subject: EffectSubject;
    readonly exit_code: number | null;
    readonly timed_out: boolean;
    readonly output: string | null;
  };

  /** Nobody waits for its end any more: whoever runs it stops it. */
  CommandCancelled: { readonly command_id: string };

  TimerSet: { readonly timer_id: string; readonly due: string; readonly purpose: TimerPurpose };
  TimerFired: { readonly timer_id: string; readonly purpose: TimerPurpose };
  TimerCancelled: { readonly timer_id: string };

  DecisionOpened: {
    readonly decision_id: string;
    readonly source: DecisionSource;
    readonly title: string;
    readonly context: string;
    readonly options: readonly DecisionOption[];
    readonly agent_id: string | null;
    readonly pipeline_id: string | null;
    readonly task_id: string | null;
    /** Of a budget. */
    readonly scope?: BudgetScope;
    /** Of a runbook that a person is asked about. */
    readonly adopts?: { readonly sha256: string; readonly commit: string };
    /** The main branch, if it is about moves that nobody has accepted. */
    readonly branch?: string;
    /** It is withdrawn as soon as the agent is heard again. */
    readonly until_heard?: true;
  };
  /** What it asks about has grown while it was open. */
  DecisionExtended: { readonly decision_id: string; readonly context: string };
  /** Who chose is the entry's actor, and when is its time. */
  DecisionResolved: {
    readonly decision_id: string;
    readonly option: number;
    readonly action: DecisionAction;
    readonly message: string | null;
  };
  /** What it asked about has settled itself. */
  DecisionWithdrawn: { readonly decision_id: string; readonly reason: string };

  /** Most of a budget is used: people are told, once. */
  BudgetWarned: BudgetReading;
  /** Money is limited, and nobody knows what the model costs. */
  BudgetUnpriced: { readonly scope: BudgetScope; readonly model: string | null };
  /** All of it is used: whoever draws on it is parked until the decision. */
  BudgetReached: BudgetReading & { readonly decision_id: string };
  /** By how often its own amount it is raised now. */
  BudgetRaised: { readonly scope: BudgetScope; readonly raises: number };

  NotificationRequested: {
    readonly notification_id: string;
    readonly kind: 'attention' | 'warning' | 'done' | 'failed';
    readonly title: string;
    readonly message: string;
    readonly decision_id: string | null;
  };
  NotificationSent: {
    readonly notification_id: string;
    readonly sent: readonly string[];
    readonly failed: readonly { readonly channel: string; readonly reason: string }[];
    /** Why it was not sent at all: its decision was no longer open. */
    readonly called_off?: string;
  };
}

/** Tokens, thousandths of a cent, or milliseconds. */
interface BudgetReading {
  readonly scope: BudgetScope;
  readonly measure: Measure;
  readonly used: number;
  readonly limit: number;
}

export type RunOutcome = 'done' | 'failed' | 'cancelled';

/** The claim that a run works under. */
export interface TaskRef {
  readonly task_id: string;
  readonly epoch: number;
  readonly session_id: string;
}
