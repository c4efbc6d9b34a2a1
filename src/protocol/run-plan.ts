import type { Phase } from './phase.ts';

/** The whole plan is recorded, and the run follows it: an edited runbook changes the next run only. Templates are filled in late. */
export type Plan =
  | { readonly kind: 'agent'; readonly agent: AgentPlan }
  | { readonly kind: 'shell'; readonly command: string }
  | {
      readonly kind: 'pipeline';
      readonly pipeline: string;
      /** Every pipeline and agent that this pipeline can reach, by name. */
      readonly pipelines: Readonly<Record<string, PipelinePlan>>;
      readonly agents: Readonly<Record<string, AgentPlan>>;
    };

export interface AgentPlan {
  readonly name: string;
  /** `claude`, `codex`, `gemini`, `scripted`, `builtin:ROLE`, or a command for the shell. */
  readonly run: string;
  readonly prompt?: string;
  readonly prompt_file?: string;
  readonly role?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Variables of the daemon that the agent gets besides the default list: names, or prefixes with `*`. */
  readonly env_pass?: readonly string[];
  readonly cwd?: string;
  readonly model?: string;
  readonly on_stop?: HandlerPlan<StopAction>;
  readonly on_idle?: HandlerPlan<IdleAction>;
  readonly on_dead?: HandlerPlan<DeadAction>;
  /** By kind of error; `any` for the kinds that are not listed. */
  readonly on_error?: Readonly<Partial<Record<AgentError | 'any', HandlerPlan<ErrorAction>>>>;
  readonly on_prompt?: HandlerPlan<PromptAction>;
  readonly max_concurrency?: number;
  readonly budget?: BudgetPlan;
  readonly timeout_ms?: number;
  readonly requires?: readonly Requirement[];
}

/** Messages that a session must send before it may complete. */
export const REQUIREMENTS = ['exit', 'result', 'handoff', 'thought_record'] as const;
export type Requirement = (typeof REQUIREMENTS)[number];
export const STOP_ACTIONS = ['signal', 'idle', 'escalate'] as const;
export const IDLE_ACTIONS = ['nudge', 'done', 'fail', 'escalate', 'gate'] as const;
export const DEAD_ACTIONS = ['done', 'resume', 'fail', 'escalate', 'gate'] as const;
export const ERROR_ACTIONS = ['fail', 'resume', 'escalate', 'gate', 'wait'] as const;
export const PROMPT_ACTIONS = ['done', 'fail', 'escalate', 'gate'] as const;
export type StopAction = (typeof STOP_ACTIONS)[number];
export type IdleAction = (typeof IDLE_ACTIONS)[number];
export type DeadAction = (typeof DEAD_ACTIONS)[number];
export type ErrorAction = (typeof ERROR_ACTIONS)[number];
export type PromptAction = (typeof PROMPT_ACTIONS)[number];
export type HandlerAction = StopAction | IdleAction | DeadAction | ErrorAction | PromptAction;
export const HANDLER_NAMES = ['on_stop', 'on_idle', 'on_dead', 'on_error', 'on_prompt'] as const;
export type HandlerName = (typeof HANDLER_NAMES)[number];
export const AGENT_ERRORS = ['unauthorized', 'out_of_credits', 'no_internet', 'rate_limited'] as const;
export type AgentError = (typeof AGENT_ERRORS)[number];

/** The short form `on_idle = "nudge"` means `{ action: 'nudge' }`. */
export interface HandlerPlan<A extends HandlerAction = HandlerAction> {
  readonly action: A;
  readonly message?: string;
  /** Default: 1. For `on_stop` there is no default; the client's own flag then prevents loops. */
  readonly attempts?: AttemptLimit;
  readonly cooldown_ms?: number;
  readonly run?: string;
  readonly timeout_ms?: number;
  /** With `resume`: the message is appended to the prompt instead of replacing it. */
  readonly append?: boolean;
}

export type AttemptLimit = number | 'forever';

export interface BudgetPlan {
  /** The sum of input, output and cached tokens. */
  readonly tokens?: number;
  /** Thousandths of a cent, because the ledger accepts whole numbers only. */
  readonly cost_millicents?: number;
  /** Working time; waiting for people and for limits does not count. */
  readonly time_ms?: number;
}

export interface PipelinePlan {
  readonly name: string;
  readonly vars: Readonly<Record<string, string | null>>;
  readonly steps: readonly StepPlan[];
  readonly budget?: BudgetPlan;
  readonly notify?: boolean;
}

export interface StepPlan {
  readonly name: string;
  readonly run: StepRun;
  /** The next step. Default: the step below, or the end. */
  readonly on_done?: string;
  /** Default: the pipeline fails. */
  readonly on_fail?: FailPlan;
  /** Default: the pipeline is cancelled. */
  readonly on_cancel?: string;
  readonly timeout_ms?: number;
  /** Creates a git worktree, in which this step and all later ones run. */
  readonly workspace?: WorkspacePlan;
  readonly notify?: boolean;
}

export type StepRun =
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'agent'; readonly agent: string }
  | { readonly kind: 'pipeline'; readonly pipeline: string; readonly vars: Readonly<Record<string, string>> };

/** Retries the step up to `retries` times, then goes to the step `step`, or fails if there is none. */
export interface FailPlan {
  readonly step?: string;
  readonly retries?: number;
  readonly cooldown_ms?: number;
}

export interface WorkspacePlan {
  readonly branch: string;
  readonly base?: string;
}

export interface WorkerPlan {
  readonly name: string;
  /** The worker takes tasks that match all of `tasks`, `phases` and `roles` that are set. `tasks` are ids with `*` as wildcard. */
  readonly tasks?: readonly string[];
  readonly phases?: readonly Phase[];
  readonly roles?: readonly string[];
  /** Takes only tasks of a workflow, and only if it is the turn of one of the worker's roles. */
  readonly workflow?: boolean;
  readonly concurrency: number;
  readonly plan: Plan;
}
