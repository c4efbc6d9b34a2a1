import type { ViolationKind } from '../../protocol/agent-session-completed.ts';
import type { Mission } from '../../protocol/mission.ts';
import type { Phase } from '../../protocol/phase.ts';

/**
 * What happens to a task between its sessions, and what Baton sees of a session without asking it. As with runs, what must be done
 * outside is an entry (`…Requested`) that is owed until another tells how it went.
 */
export interface WorkflowEvents {
  /** What the branch of a task is called, from now on. */
  BranchNamed: { readonly task_id: string; readonly branch: string };
  /** The place of a session, and what it was asked to do: written before the agent is started. */
  SessionPrepared: {
    /** Where the main branch stood when the first session of the task was prepared. */
    readonly main?: string;
    readonly agent_id: string;
    readonly task_id: string;
    readonly epoch: number;
    readonly workspace: string;
    readonly branch: string;
    /** The commit the session began at: it is measured against this one. */
    readonly base: string;
    /** Where a session before it began whose work broke a constraint and is still there: constraints count from here on. */
    readonly since?: string;
    readonly port: number | null;
    readonly mission: Mission;
  };
  /** What a session really did; recorded in the transaction that ends it. */
  SessionMeasured: {
    readonly task_id: string;
    readonly epoch: number;
    readonly session_id: string;
    readonly base: string;
    readonly head: string;
    readonly commits: number;
    readonly file_count: number;
    /** The first of them. */
    readonly files: readonly { readonly path: string; readonly action: string }[];
    readonly new_dependencies: readonly string[];
    /** For people. */
    readonly violations: readonly string[];
    /** What the violations are of, each kind once: rules decide by these. Entries without it are read by `upcast.ts`. */
    readonly broken: readonly ViolationKind[];
  };
  /** What a session has used so far; the newest counts. */
  SessionUsed: {
    readonly agent_id: string;
    readonly conversation_id: string | null;
    readonly model: string | null;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cached_tokens: number;
    readonly cost_millicents: number | null;
    readonly turns: number;
    /** Tokens that were used while the agent had nothing to do but wait. */
    readonly waiting_tokens: number;
    /** Tokens that are in no price: neither the client nor the runbook knows one. */
    readonly unpriced_tokens?: number;
    /** What requests that are under way may use: each as much as the largest of the run. Left out: none. */
    readonly reserved_tokens?: number;
    readonly reserved_millicents?: number;
  };

  /** The required checks of a task's head commit, in a clean checkout of it. */
  ChecksRequested: {
    readonly checks_id: string;
    readonly task_id: string;
    readonly head: string;
    readonly checks: readonly CheckPlan[];
  };
  CheckFinished: {
    readonly checks_id: string;
    readonly task_id: string;
    readonly head: string;
    readonly name: string;
    readonly outcome: CheckOutcome;
    readonly exit_code: number | null;
    /** The whole log, as a blob. */
    readonly log: string | null;
    /** Its end. */
    readonly output: string | null;
  };
  ChecksFinished: {
    readonly checks_id: string;
    readonly task_id: string;
    readonly head: string;
    readonly outcome: CheckOutcome;
  };

  /** One at a time, on the main branch as it stands then; the checks are run again on what comes of it. */
  MergeRequested: {
    readonly merge_id: string;
    readonly task_id: string;
    readonly head: string;
    readonly branch: string;
    readonly into: string;
    readonly method: MergeMethod;
    readonly checks: readonly CheckPlan[];
    readonly message: string;
    /** Where it is a pull request: GitHub merges it. */
    readonly pull?: PullRepository;
    /** What is delivered once it is merged: the validator's handoff to the closer. */
    readonly handoff: HandoffRef | null;
  };
  /**
   * The merge commit is made and checked, and the branch moves next. After a crash this commit, and no other, is looked for on the branch.
   */
  MergePrepared: {
    readonly merge_id: string;
    readonly task_id: string;
    readonly head: string;
    /** The branch that moves, and where it stands. */
    readonly branch: string;
    readonly base: string;
    readonly merge_sha: string;
  };
  MergeFinished: {
    readonly merge_id: string;
    readonly task_id: string;
    readonly outcome: 'merged' | 'conflict' | 'failed' | 'refused';
    readonly head: string;
    /** Where main stood before. */
    readonly base: string | null;
    readonly merge_sha: string | null;
    /** Why it failed, if not because of the merged tree; rules and handoffs go by this and not by the reason. */
    readonly failure?: 'writeback';
    readonly reason: string | null;
    readonly files: readonly string[];
    readonly output: string | null;
  };

  /** Somebody else than Baton has moved the main branch; or Baton sees it for the first time. */
  MainMoved: {
    readonly branch: string;
    /** If the repository says that another branch is the main branch now: the one before it. */
    readonly previous_branch?: string;
    /** Null at the first sight. */
    readonly old: string | null;
    readonly new: string;
    readonly fast_forward: boolean;
    /** How many commits are new. */
    readonly commits: number;
    /** Whether the new commits are on the upstream branch, as Baton fetched it; null if nobody needed to know. */
    readonly on_upstream: boolean | null;
    /** A digest of where the upstream branch is; null if there is none. */
    readonly upstream: string | null;
    /** With the number of their commits; the first few. */
    readonly authors: readonly string[];
    /** What changed, file by file; the first of them. Null if nobody is asked. */
    readonly stat: string | null;
    /** Sessions without a sandbox that were alive since the position before was last seen. */
    readonly sessions: readonly { readonly id: string; readonly name: string; readonly task_id: string | null }[];
  };

  /** The task's branch is to be at GitHub with this head, and its pull request open: opened where there is none, brought up to date where there is. */
  PullRequestRequested: PullRepository & {
    readonly pull_id: string;
    readonly task_id: string;
    readonly branch: string;
    readonly head: string;
    /** Empty: the repository's main branch. */
    readonly into: string;
    readonly title: string;
    readonly body: string;
    readonly draft: boolean;
  };
  PullRequestPublished: {
    readonly pull_id: string;
    readonly task_id: string;
    readonly number: number;
    readonly url: string;
    readonly head: string;
    readonly how: 'opened' | 'found' | 'updated' | 'reopened';
    /** The required checks of this head that GitHub runs, and that are asked for until they have ended. */
    readonly watch: readonly string[];
  };
  PullRequestFailed: { readonly pull_id: string; readonly task_id: string; readonly reason: string };
  /** The task was cancelled: nobody is to merge it at GitHub either. */
  PullRequestCloseRequested: {
    readonly pull_id: string;
    readonly task_id: string;
    readonly repository: string;
    readonly number: number;
    readonly comment: string;
  };
  PullRequestClosed: {
    readonly pull_id: string;
    readonly task_id: string;
    readonly number: number;
    readonly outcome: 'closed' | 'merged' | 'failed';
    readonly reason: string | null;
  };
  /** The task was cancelled: its worktree and branch are removed if they hold nothing. */
  PlaceClearRequested: { readonly task_id: string; readonly branch: string };
  PlaceCleared: {
    readonly task_id: string;
    readonly branch: string;
    readonly outcome: 'removed' | 'kept' | 'absent';
    /** What it holds, or why it could not be removed; null if it is gone. */
    readonly reason: string | null;
  };
  /** Which protected paths the branch changes between the merge base and its head. */
  ProtectedMeasured: {
    readonly task_id: string;
    readonly head: string;
    readonly base: string;
    /** All of them, as far as an entry has room. */
    readonly paths: readonly string[];
  };
  /** The merge waits for a person: it changes protected paths. */
  MergeHeld: {
    readonly merge_id: string;
    readonly task_id: string;
    readonly head: string;
    readonly handoff: HandoffRef | null;
  };
  /** A person agreed to merge this commit although it changes protected paths. */
  MergeAgreed: { readonly task_id: string; readonly head: string; readonly by: string };
  /** Nobody may claim the task until a person has said so: a checkpoint of the mode it runs in. */
  TaskHeld: { readonly task_id: string; readonly decision_id: string; readonly stage: string };
  TaskFreed: { readonly task_id: string };
  /** A workflow began, and how much of it people want to see. */
  WorkflowStarted: {
    readonly task_id: string;
    readonly mode: WorkflowMode;
    /** The runbook that it keeps to the end; left out before runbooks were adopted. */
    readonly runbook?: string;
  };
  /** A delivery of a webhook that was taken into account, so that a second one is not. */
  WebhookReceived: { readonly delivery_id: string; readonly source: 'github'; readonly event: string };
}

/** Where the pull requests of a project are. */
export interface PullRepository {
  /** `owner/name`, with its host before it where that is not github.com. */
  readonly repository: string;
  /** The git remote that branches are pushed to. */
  readonly remote: string;
}

export interface CheckPlan {
  readonly name: string;
  /** Left out: somebody else runs it and reports. */
  readonly run?: string;
  readonly timeout_ms?: number;
  /** Variables of the daemon that it gets besides the default list, those of the whole project included. */
  readonly env_pass?: readonly string[];
}

export type MergeMethod = 'squash' | 'merge' | 'rebase';

export type CheckOutcome = 'passed' | 'failed' | 'cancelled';

export const WORKFLOW_MODES = ['autonomous', 'semi', 'supervised'] as const;
export type WorkflowMode = (typeof WORKFLOW_MODES)[number];

/** A handoff as it is written: what it says, and where it takes its task. */
export interface HandoffRef {
  readonly handoff_id: string;
  readonly task_id: string;
  readonly from: string;
  readonly to: string | null;
  /** Where it takes the task; null where it moves nothing. */
  readonly phase: Phase | null;
  readonly next_role: string | null;
  /** The message itself, as XML: what the receiver gets. */
  readonly xml: string;
}
