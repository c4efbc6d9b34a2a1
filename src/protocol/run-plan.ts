import type { Phase } from './phase.ts';

/**
 * What a run was started with. A checked runbook is turned into plans, a plan is written into the ledger whole, and the run keeps to it:
 * whoever edits a runbook changes the next run, never one that is under way. Fields are snake_case because they are what is written.
 * Texts may still hold templates (`${var.x}`): they are filled in where the effect happens, so that no environment gets into the ledger.
 */
export type Plan =
  | { readonly kind: 'agent'; readonly agent: AgentPlan }
  | { readonly kind: 'shell'; readonly command: string }
  | {
      readonly kind: 'pipeline';
      readonly pipeline: string;
      /** Every pipeline and agent that can be reached from it, by name. */
      readonly pipelines: Readonly<Record<string, PipelinePlan>>;
      readonly agents: Readonly<Record<string, AgentPlan>>;
    };

export interface AgentPlan {
  readonly name: string;
  /** `claude`, `codex`, `gemini`, `scripted`, `builtin:ROLE`, or a command for the shell. */
  readonly run: string;
  readonly prompt?: string;
  /** Relative to the project. */
  readonly prompt_file?: string;
  readonly role?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Variables of the daemon that it gets besides the default list: names, or prefixes with `*`. */
  readonly env_pass?: readonly string[];
  readonly cwd?: string;
  readonly model?: string;
  readonly on_stop?: HandlerPlan<StopAction>;
  readonly on_idle?: HandlerPlan<IdleAction>;
  readonly on_dead?: HandlerPlan<DeadAction>;
  /** By kind of error; `any` for those that are not named. */
  readonly on_error?: Readonly<Partial<Record<AgentError | 'any', HandlerPlan<ErrorAction>>>>;
  readonly on_prompt?: HandlerPlan<PromptAction>;
  readonly max_concurrency?: number;
  readonly budget?: BudgetPlan;
  readonly timeout_ms?: number;
  readonly requires?: readonly Requirement[];
}

/** What a session owes before it may complete. */
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

/** The simple form `on_idle = "nudge"` is `{ action: 'nudge' }`. */
export interface HandlerPlan<A extends HandlerAction = HandlerAction> {
  readonly action: A;
  /** What the agent, or the person, is told. */
  readonly message?: string;
  /** Left out: 1; for `on_stop`, where it is left out, the client's own flag guards against loops. */
  readonly attempts?: AttemptLimit;
  /** Between two tries. */
  readonly cooldown_ms?: number;
  /** The command of a gate. */
  readonly run?: string;
  /** How long a gate may take. */
  readonly timeout_ms?: number;
  /** With `resume`: the message is added to the prompt instead of standing in its place. */
  readonly append?: boolean;
}

export type AttemptLimit = number | 'forever';

/** What may be used before a person is asked. */
export interface BudgetPlan {
  /** In, out and cached, all together. */
  readonly tokens?: number;
  /** Thousandths of a cent: the ledger holds whole numbers. */
  readonly cost_millicents?: number;
  /** Time at work; what is spent waiting for people and limits does not count. */
  readonly time_ms?: number;
}

export interface PipelinePlan {
  readonly name: string;
  /** Variables and their defaults; null where one must be given. */
  readonly vars: Readonly<Record<string, string | null>>;
  readonly steps: readonly StepPlan[];
  /** Of everything that runs in it. */
  readonly budget?: BudgetPlan;
  readonly notify?: boolean;
}

export interface StepPlan {
  readonly name: string;
  readonly run: StepRun;
  /** The next step; left out: the one below, or the end. */
  readonly on_done?: string;
  /** Left out: the pipeline fails. */
  readonly on_fail?: FailPlan;
  /** Left out: the pipeline is cancelled. */
  readonly on_cancel?: string;
  readonly timeout_ms?: number;
  /** A git worktree of its own; from here on all steps run in it. */
  readonly workspace?: WorkspacePlan;
  readonly notify?: boolean;
}

export type StepRun =
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'agent'; readonly agent: string }
  | { readonly kind: 'pipeline'; readonly pipeline: string; readonly vars: Readonly<Record<string, string>> };

/** `retries` more tries of the same step, then the step `step`, or failure where there is none. */
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
  /** Which tasks it takes; all three must hold where they are given. `tasks`: ids, `*` for any part. */
  readonly tasks?: readonly string[];
  readonly phases?: readonly Phase[];
  readonly roles?: readonly string[];
  /** Only tasks of a workflow, when it is the turn of one of its roles. */
  readonly workflow?: boolean;
  /** How many at once. */
  readonly concurrency: number;
  readonly plan: Plan;
}
