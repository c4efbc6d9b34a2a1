import type { Workflow } from '../protocol/handoff/extend-workflow.ts';
import type { Phase } from '../protocol/phase.ts';
import type { Price } from '../protocol/price.ts';
import type { AgentPlan, PipelinePlan, WorkflowMode } from '../protocol/run-plan.ts';
import type { SandboxPlan, SecretPlan } from '../protocol/sandbox.ts';
import type { Problem } from '../protocol/shape/problem.ts';
import type { CheckNetwork, ProjectNetwork } from './shape/access-shape.ts';
import type { buildLimits } from './shape/limits-shape.ts';
import type { CommandArgs } from './command-args.ts';

/** A checked runbook: names are resolved, defaults filled, and plans ready to start. */
export interface Runbook {
  readonly exitProtocol: boolean | undefined;
  /** The project's id; undefined if it is derived from the repository's path. */
  readonly project: string | undefined;
  /** `postgres://…`, or undefined for SQLite in the state folder. */
  readonly store: string | undefined;
  /** The daemon's variables that all processes of the project receive in addition to the default list. */
  readonly envPass: readonly string[];
  /** The project's own settings; `access.ts` adds the defaults and an agent's settings. */
  readonly sandbox: SandboxPlan;
  readonly network: ProjectNetwork;
  /** The injected secrets, by the name of the variable that the client would read without injection. */
  readonly secrets: ReadonlyMap<string, SecretPlan>;
  readonly agents: ReadonlyMap<string, AgentPlan>;
  readonly pipelines: ReadonlyMap<string, PipelinePlan>;
  readonly commands: ReadonlyMap<string, CommandDefinition>;
  readonly workers: ReadonlyMap<string, WorkerDefinition>;
  readonly ci: {
    readonly required: readonly CiCheck[];
    /** Whether the runbook sets `required`; an empty list means that nothing is checked. */
    readonly isSet: boolean;
    /** Patterns that extend or reduce the default list of protected paths. */
    readonly protected: readonly string[];
  };
  /** `into` is undefined for the repository's main branch. */
  readonly merge: { readonly method: (typeof MERGE_METHODS)[number]; readonly into: string | undefined } | undefined;
  /** The git filters that an operator allowed. */
  readonly git: { readonly filters: readonly string[] };
  readonly github: {
    /** Undefined if pull requests are used whenever there is a GitHub remote and `gh`. */
    readonly pullRequests: boolean | undefined;
    readonly repository: string | undefined;
    readonly remote: string | undefined;
    readonly draft: boolean;
  };
  readonly workflow: Workflow;
  readonly sameAgentMayReview: boolean;
  readonly mode: WorkflowMode;
  readonly workflowCommands: WorkflowCommands;
  readonly notify: {
    readonly desktop: boolean;
    readonly terminal: boolean;
    readonly webhook: string | undefined;
    readonly on: readonly (typeof NOTIFICATION_KINDS)[number][];
  };
  readonly workspace: WorkspaceSettings;
  readonly limits: RunLimits;
  readonly prices: readonly Price[];
}

export type Runnable =
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'agent'; readonly agent: string }
  | { readonly kind: 'pipeline'; readonly pipeline: string; readonly vars: Readonly<Record<string, string>> };

/** What a worker runs for a task; it can also make a workflow of the task. */
export type WorkerRun =
  | Runnable
  | { readonly kind: 'workflow'; readonly workflow: 'issue'; readonly mode?: WorkflowMode };

export interface CommandDefinition {
  readonly name: string;
  readonly args: CommandArgs;
  readonly run: Runnable;
}

export interface WorkerDefinition {
  readonly name: string;
  readonly tasks?: readonly string[];
  readonly phases?: readonly Phase[];
  readonly roles?: readonly string[];
  readonly workflow?: boolean;
  /** The host must have all of these labels. */
  readonly labels?: readonly string[];
  readonly concurrency: number;
  readonly run: WorkerRun;
}

export interface CiCheck {
  readonly name: string;
  /** If omitted, a GitHub workflow of the same name reports the result. */
  readonly run?: string;
  readonly timeoutMs?: number;
  readonly envPass?: readonly string[];
  /** Absent if the network of the project's checks applies. */
  readonly network?: CheckNetwork;
  /** Of a reported check: see `state/workflow/judge-report.ts`. */
  readonly repository?: string;
  readonly app?: string;
  readonly allow?: readonly ('skipped' | 'neutral')[];
}

export interface WorkflowCommands {
  readonly install?: string;
  readonly build?: string;
  readonly smoke?: string;
  readonly validate: readonly (CiCheck & { readonly run: string })[];
}

export const MERGE_METHODS = ['squash', 'merge', 'rebase'] as const;
export const NOTIFICATION_KINDS = ['attention', 'warning', 'done', 'failed'] as const;

export interface WorkspaceSettings {
  /** A template for branch names; applies only until a branch is named. */
  readonly branch: string;
  /** Ignored paths that are copied or linked into each new worktree. */
  readonly copy: readonly string[];
  readonly link: readonly string[];
  readonly setup: string | undefined;
  readonly setupTimeoutMs: number;
}

/** Times and sizes of a project; `shape/limits-shape.ts` describes each field. */
export type RunLimits = ReturnType<typeof buildLimits>;
/** Limits stated in every mission and measured at the end of a session. */
export type SessionLimits = Pick<RunLimits, 'maxFiles' | 'noGitCommit' | 'noNewDeps'>;

export interface RunbookProblem extends Problem {
  readonly file: string;
}

export type CheckedRunbook =
  | { readonly ok: true; readonly value: Runbook }
  | { readonly ok: false; readonly problems: readonly [RunbookProblem, ...RunbookProblem[]] };

export interface RunbookFile {
  /** The displayed path, such as `.baton/runbooks/review.yaml`. Its ending determines the syntax. */
  readonly path: string;
  readonly text: string;
}

export type ChecksAnswer = 'checked' | 'none' | 'declined' | 'unanswered';

/**
 * Whether work is checked. `isDeclined`: an operator decided that nothing is checked while `ci.required` is not set.
 */
export function checksAnswerOf({ ci }: Pick<Runbook, 'ci'>, isDeclined: boolean): ChecksAnswer {
  if (ci.required.length > 0) return 'checked';
  if (ci.isSet) return 'none';
  return isDeclined ? 'declined' : 'unanswered';
}

/** The answer as a sentence without a full stop; empty if there are checks. */
export function describeChecks(answer: ChecksAnswer): string {
  return {
    checked: '',
    none: 'nothing is checked before a merge: ci.required is empty',
    declined: 'nothing is checked before a merge: an operator chose that, and the runbook does not set ci.required',
    unanswered: 'nothing would be checked before a merge: the runbook does not set ci.required',
  }[answer];
}

/** Describes the tasks that a worker takes. */
export function describeSelection({
  tasks,
  phases,
  roles,
  labels,
  concurrency,
}: Omit<WorkerDefinition, 'name' | 'run'>): string {
  const parts = [
    tasks === undefined ? [] : [`tasks ${tasks.join(', ')}`],
    phases === undefined ? [] : [`in ${phases.join(', ')}`],
    roles === undefined ? [] : [`for ${roles.join(', ')}`],
  ].flat();
  const where = labels === undefined ? '' : `, on hosts with ${labels.join(', ')}`;
  return `${parts.length === 0 ? 'any task' : parts.join(' ')}, ${concurrency} at once${where}`;
}

/** The built-in workflow: `baton run issue "TITLE"`, or `--task ID` for existing tasks. */
export const ISSUE_WORKFLOW = 'issue';
