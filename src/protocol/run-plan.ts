import type { Phase } from './phase.ts';
import type { NetworkPlan, SandboxPlan } from './sandbox.ts';

/**
 * The plan of a run. It is recorded as a whole and the run follows it, so an edited runbook changes only later runs.
 * Templates are filled in late.
 */
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

/**
 * Clients by their name in `run`, with the format of their output (`src/streams`). Each needs a first message and can
 * be resumed.
 */
export const MODEL_CLIENTS = {
  claude: { stream: 'stream-json' },
  codex: { stream: 'codex' },
  gemini: { stream: 'gemini' },
} as const;

export const MODEL_CLIENT_NAMES: readonly string[] = Object.keys(MODEL_CLIENTS);
export type StreamFormat = (typeof MODEL_CLIENTS)[keyof typeof MODEL_CLIENTS]['stream'] | 'acp';

/** Agents that support the Agent Client Protocol, by their name in `run`. `acp:COMMAND` runs any other one. */
export const ACP_PRESET_NAMES = [
  'opencode',
  'copilot',
  'qwen',
  'cline',
  'auggie',
  'grok',
  'claude-acp',
  'codex-acp',
  'gemini-acp',
] as const;
export type AcpPresetName = (typeof ACP_PRESET_NAMES)[number];

/** Clients that report no tokens, so that only their time can be limited. */
export const UNMETERED_CLIENTS: readonly string[] = ['cline', 'auggie'] satisfies AcpPresetName[];

/** The command after `acp:`; undefined for other agents. */
export function acpCommandOf(run: string): string | undefined {
  return /^acp:(.*)$/s.exec(run)?.[1]?.trim();
}

export function findAcpPresetName(run: string): AcpPresetName | undefined {
  return ACP_PRESET_NAMES.find((name) => name === run);
}

export function isAcp(run: string): boolean {
  return findAcpPresetName(run) !== undefined || acpCommandOf(run) !== undefined;
}

/** Reports whether `run` starts a client with a model, which needs a first message and has conversations. */
export function isModelClient(run: string): boolean {
  return MODEL_CLIENT_NAMES.includes(run) || isAcp(run);
}

export interface AgentPlan extends HandlerPlans {
  readonly name: string;
  /**
   * A name of `MODEL_CLIENTS` or of an ACP agent, `acp:COMMAND`, `scripted`, `builtin:ROLE`, or a command for the
   * shell.
   */
  readonly run: string;
  readonly prompt?: string;
  readonly prompt_file?: string;
  readonly role?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Variables of the daemon that the agent gets besides the default list: names, or prefixes with `*`. */
  readonly env_pass?: readonly string[];
  /** Only the agent's own settings; the project's settings apply otherwise. */
  readonly sandbox?: SandboxPlan;
  readonly network?: NetworkPlan;
  readonly cwd?: string;
  readonly model?: string;
  readonly max_concurrency?: number;
  readonly budget?: BudgetPlan;
  readonly timeout_ms?: number;
  readonly requires?: readonly Requirement[];
  readonly acp?: AcpPlan;
}

/** Settings of an ACP agent. */
interface AcpPlan {
  /** `ask`: every permission request goes to `on_prompt`. Default: `allow` for a preset, `ask` for a command. */
  readonly permissions?: AcpPermissions;
  /** Whether Baton reads and writes files for the agent, inside the session's sandbox. Default: true. */
  readonly files?: boolean;
  /** Whether Baton runs commands for the agent, inside the session's sandbox. Default: true. */
  readonly terminals?: boolean;
  /** The mode of the agent's session, by the agent's name for it. */
  readonly mode?: string;
}

export const ACP_PERMISSIONS = ['ask', 'allow'] as const;
export type AcpPermissions = (typeof ACP_PERMISSIONS)[number];

/** Messages that a session must send before it may complete. */
export const REQUIREMENTS = ['exit', 'result', 'handoff', 'thought_record'] as const;
export type Requirement = (typeof REQUIREMENTS)[number];

/**
 * Every lifecycle handler: the actions that a runbook may choose, when it fires, the source of the decision that it
 * opens, and whether it applies while the process runs or after it has exited. The runbook's shape, plans, entries and
 * the engine follow this table; the rule that fires a handler is in `engine/agent-events.ts`. `on_error` may differ by
 * kind of error.
 */
export const HANDLERS = {
  on_stop: {
    actions: ['signal', 'idle', 'escalate'],
    about: 'When the agent tries to end its turn',
    source: 'stop',
    applies: 'running',
  },
  on_idle: {
    actions: ['nudge', 'done', 'fail', 'escalate', 'gate'],
    about: 'When the agent waits for input, or tries to stop and `on_stop` is `idle`',
    source: 'idle',
    applies: 'running',
  },
  on_dead: {
    actions: ['done', 'resume', 'fail', 'escalate', 'gate'],
    about: "When the agent's process ended without a signal",
    source: 'dead',
    applies: 'exited',
  },
  on_error: {
    actions: ['fail', 'resume', 'escalate', 'gate', 'wait'],
    about: 'When the client reports an API error',
    source: 'error',
    applies: 'always',
  },
  on_prompt: {
    actions: ['done', 'fail', 'escalate', 'gate'],
    about: 'When the client shows a permission or question prompt',
    source: 'prompt',
    applies: 'running',
  },
} as const;

export type HandlerName = keyof typeof HANDLERS;
export const HANDLER_NAMES = Object.keys(HANDLERS) as readonly HandlerName[]; // oxlint-disable-line typescript/no-unsafe-type-assertion
export type ActionOf<H extends HandlerName> = (typeof HANDLERS)[H]['actions'][number];
export type StopAction = ActionOf<'on_stop'>;
export type HandlerAction = ActionOf<HandlerName>;
export const HANDLER_ACTIONS: readonly HandlerAction[] = [
  ...new Set(Object.values(HANDLERS).flatMap(({ actions }): readonly HandlerAction[] => actions)),
];

type HandlerPlans = {
  readonly [H in Exclude<HandlerName, 'on_error'>]?: HandlerPlan<ActionOf<H>>;
} & {
  /** Handlers by kind of error; `any` for the kinds that are not listed. */
  readonly on_error?: Readonly<Partial<Record<AgentError | 'any', HandlerPlan<ActionOf<'on_error'>>>>>;
};

export const AGENT_ERRORS = ['unauthorized', 'out_of_credits', 'no_internet', 'rate_limited'] as const;
export type AgentError = (typeof AGENT_ERRORS)[number];

/** The short form `on_idle = "nudge"` means `{ action: 'nudge' }`. */
export interface HandlerPlan<A extends HandlerAction = HandlerAction> {
  readonly action: A;
  readonly message?: string;
  /** Default: 1. For `on_stop` there is no default; the client's own flag prevents loops. */
  readonly attempts?: AttemptLimit;
  readonly cooldown_ms?: number;
  readonly run?: string;
  readonly timeout_ms?: number;
  /** With `resume`: whether the message is appended to the prompt instead of replacing it. */
  readonly append?: boolean;
}

export type AttemptLimit = number | 'forever';

export interface BudgetPlan {
  /** The sum of input, output and cached tokens. */
  readonly tokens?: number;
  /** Thousandths of a cent, because the ledger accepts whole numbers only. */
  readonly cost_millicents?: number;
  /** Working time, without waits for people and limits. */
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
  /** The next step. Default: the following step, or the end. */
  readonly on_done?: string;
  /** Default: the pipeline fails. */
  readonly on_fail?: FailPlan;
  /** Default: the pipeline is cancelled. */
  readonly on_cancel?: string;
  readonly timeout_ms?: number;
  /** Creates a git worktree, in which this step and all later steps run. */
  readonly workspace?: WorkspacePlan;
  readonly notify?: boolean;
}

export type StepRun =
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'agent'; readonly agent: string }
  | { readonly kind: 'pipeline'; readonly pipeline: string; readonly vars: Readonly<Record<string, string>> };

/** Retries the step up to `retries` times, then continues with `step`, or fails if it is not set. */
export interface FailPlan {
  readonly step?: string;
  readonly retries?: number;
  readonly cooldown_ms?: number;
}

interface WorkspacePlan {
  readonly branch: string;
  readonly base?: string;
}

export interface WorkerPlan {
  readonly name: string;
  /**
   * The worker takes tasks that match all of `tasks`, `phases` and `roles` that are set. `tasks` are ids with `*` as a
   * wildcard.
   */
  readonly tasks?: readonly string[];
  readonly phases?: readonly Phase[];
  readonly roles?: readonly string[];
  /** Takes only tasks in a workflow, and only on the turn of one of the worker's roles. */
  readonly workflow?: boolean;
  /** In a fleet, only hosts with all of these labels run it. */
  readonly labels?: readonly string[];
  readonly concurrency: number;
  readonly plan: Plan | WorkflowPlan;
}

/** Asks a person never, at four places, or at every stage. */
export const WORKFLOW_MODES = ['autonomous', 'semi', 'supervised'] as const;
export type WorkflowMode = (typeof WORKFLOW_MODES)[number];

/** Makes workflows of tasks that are in none; the worker claims nothing itself. */
interface WorkflowPlan {
  readonly kind: 'workflow';
  readonly workflow: 'issue';
  readonly mode: WorkflowMode;
}

/**
 * The output format of an agent, by its `run`: JSON lines of a client, or plain text. The scripted agent prints those
 * of Claude Code.
 */
export function outputFormatOf(run: string): StreamFormat | 'text' {
  if (isAcp(run)) return 'acp';
  const [, client] = Object.entries(MODEL_CLIENTS).find(([name]) => name === run) ?? [];
  return /^scripted(?:\s|$)/.test(run) ? MODEL_CLIENTS.claude.stream : (client?.stream ?? 'text');
}
