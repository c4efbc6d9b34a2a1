import type { Workflow } from '../protocol/handoff/extend-workflow.ts';
import type { Phase } from '../protocol/phase.ts';
import type { Price } from '../protocol/price.ts';
import type { AgentPlan, BudgetPlan, PipelinePlan } from '../protocol/run-plan.ts';
import type { Problem } from '../protocol/shape/problem.ts';
import type { CommandArgs } from './command-args.ts';

/**
 * A checked runbook: every name in it leads somewhere, every text has its type, and what was left out has its default. Agents and
 * pipelines are already what a run is started with.
 */
export interface Runbook {
  /** Undefined where the runbook does not say. */
  readonly exitProtocol: boolean | undefined;
  /** `postgres://…`; undefined is the SQLite store of the state folder. */
  readonly store: string | undefined;
  /** Variables of the daemon that everything which Baton starts for the project gets, besides the default list. */
  readonly envPass: readonly string[];
  readonly agents: ReadonlyMap<string, AgentPlan>;
  readonly pipelines: ReadonlyMap<string, PipelinePlan>;
  readonly commands: ReadonlyMap<string, CommandDefinition>;
  readonly workers: ReadonlyMap<string, WorkerDefinition>;
  readonly ci: {
    readonly required: readonly CiCheck[];
    /** The runbook sets `required`. An empty list is an answer too: nothing is checked. */
    readonly isSet: boolean;
    /** Patterns that add to the built-in list of protected paths, or take something out of it. */
    readonly protected: readonly string[];
  };
  readonly merge: MergeSettings | undefined;
  readonly git: {
    /** The git filters that an operator allowed, by name. */
    readonly filters: readonly string[];
  };
  readonly github: PullRequestSettings;
  /** The built-in roles and edges, and what `roles` adds to them and takes away. */
  readonly workflow: Workflow;
  /** An agent may approve what it worked on, in another session. */
  readonly sameAgentMayReview: boolean;
  readonly mode: (typeof WORKFLOW_MODES)[number];
  /** What the built-in roles run. */
  readonly workflowCommands: WorkflowCommands;
  readonly notify: NotificationSettings;
  readonly workspace: WorkspaceSettings;
  readonly limits: RunLimits;
  /** For clients that name no price. */
  readonly prices: readonly Price[];
}

/** What a command, a worker or a step runs. */
export type Runnable =
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'agent'; readonly agent: string }
  | { readonly kind: 'pipeline'; readonly pipeline: string; readonly vars: Readonly<Record<string, string>> };

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
  readonly concurrency: number;
  readonly run: Runnable;
}

export interface CiCheck {
  readonly name: string;
  /** Left out: a workflow of the same name at GitHub reports it. */
  readonly run?: string;
  readonly timeoutMs?: number;
  readonly envPass?: readonly string[];
}

export interface WorkflowCommands {
  readonly install?: string;
  readonly build?: string;
  readonly smoke?: string;
  readonly validate: readonly (CiCheck & { readonly run: string })[];
}

export const MERGE_METHODS = ['squash', 'merge', 'rebase'] as const;

export interface MergeSettings {
  readonly method: (typeof MERGE_METHODS)[number];
  /** The branch; undefined: the repository's main one. */
  readonly into: string | undefined;
}

/** Pull requests. */
export interface PullRequestSettings {
  /** Undefined: where there is a remote at GitHub, and `gh`. */
  readonly pullRequests: boolean | undefined;
  readonly repository: string | undefined;
  readonly remote: string | undefined;
  readonly draft: boolean;
}

/** A person is asked never, at four places, or at every stage. */
export const WORKFLOW_MODES = ['autonomous', 'semi', 'supervised'] as const;

export const NOTIFICATION_KINDS = ['attention', 'warning', 'done', 'failed'] as const;

export interface NotificationSettings {
  readonly desktop: boolean;
  readonly terminal: boolean;
  readonly webhook: string | undefined;
  readonly on: readonly (typeof NOTIFICATION_KINDS)[number][];
}

/** How a worktree is made, and what it needs besides what git has. */
export interface WorkspaceSettings {
  /** A template for the name of a task's branch. It counts until the branch is named, and then no more. */
  readonly branch: string;
  /** Paths below the repository that git ignores: copied, or linked, into each new worktree. */
  readonly copy: readonly string[];
  readonly link: readonly string[];
  /** Run once in each new worktree. */
  readonly setup: string | undefined;
  readonly setupTimeoutMs: number;
}

/** What the mission of every session says, and what is measured at its end. */
export interface SessionLimits {
  readonly maxFiles: number | undefined;
  readonly noGitCommit: boolean;
  readonly noNewDeps: boolean;
}

export interface RunLimits extends SessionLimits {
  /** A claim that nobody renews ends after this. */
  readonly claimExpiryMs: number;
  readonly renewalMs: number;
  /** An agent that prints nothing for so long is idle; undefined: only its own word counts. */
  readonly idleMs: number | undefined;
  readonly silenceMs: number;
  readonly toolMs: number;
  /** How long an agent that nobody waits for may take to leave. */
  readonly leaveMs: number;
  /** Agents at work at the same time, all together. */
  readonly agents: number;
  /** Blocked stops of one run before the agent is let go. */
  readonly blocks: number;
  /** Resumes of one run by its handlers before a person is asked. */
  readonly resumes: number;
  readonly reviewRounds: number;
  /** Between SIGTERM and SIGKILL. */
  readonly killAfterMs: number;
  /** What is kept of an agent's output. */
  readonly logBytes: number;
  /** How long a task may stay in a phase before somebody is told. */
  readonly stallMs: Readonly<Partial<Record<Phase, number>>>;
  /** What all sessions of a task, and all agents of a day, may use before a person is asked. */
  readonly taskBudget: BudgetPlan | undefined;
  readonly dayBudget: BudgetPlan | undefined;
}

/** A problem in a runbook knows its file; line and column are places in that file. */
export interface RunbookProblem extends Problem {
  readonly file: string;
}

export type CheckedRunbook =
  | { readonly ok: true; readonly value: Runbook }
  | { readonly ok: false; readonly problems: readonly [RunbookProblem, ...RunbookProblem[]] };

export interface RunbookFile {
  /** As it is shown to people: `baton.toml`, `.baton/runbooks/review.yaml`. Its ending says how it is read. */
  readonly path: string;
  readonly text: string;
}

/** How a project answers what is checked before a merge. */
export type ChecksAnswer = 'checked' | 'none' | 'declined' | 'unanswered';

/** `isDeclined`: an operator answered that nothing is checked, which counts while the runbook does not set `ci.required`. */
export function checksAnswerOf({ ci }: Pick<Runbook, 'ci'>, isDeclined: boolean): ChecksAnswer {
  if (ci.required.length > 0) return 'checked';
  if (ci.isSet) return 'none';
  return isDeclined ? 'declined' : 'unanswered';
}

/** The same as a sentence without its full stop; empty if there are checks. */
export function describeChecks(answer: ChecksAnswer): string {
  switch (answer) {
    case 'checked':
      return '';
    case 'none':
      return 'nothing is checked before a merge: ci.required is empty';
    case 'declined':
      return 'nothing is checked before a merge: an operator chose that, and the runbook does not set ci.required';
    case 'unanswered':
      return 'nothing would be checked before a merge: the runbook does not set ci.required';
  }
}
