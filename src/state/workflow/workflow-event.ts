import { missionShape } from '../../protocol/mission.ts';
import { PHASES } from '../../protocol/phase.ts';
import { VIOLATION_KINDS } from '../../protocol/agent-session-completed.ts';
import { type AgentPlan, WORKFLOW_MODES } from '../../protocol/run-plan.ts';
import {
  flag,
  whole,
  list,
  nullable,
  object,
  choice,
  optional,
  text,
  typed,
} from '../../protocol/shape/build-shape.ts';
import type { FieldsOf, ValueOf } from '../../protocol/shape/shape.ts';

/** A handoff: its message as XML, and the phase and role that it gives the task. `phase` is null if the task stays where it is. */
export const handoffRef = object({
  handoff_id: text,
  task_id: text,
  from: text,
  to: nullable(text),
  phase: nullable(choice(PHASES)),
  next_role: nullable(text),
  xml: text,
});
export type HandoffRef = ValueOf<typeof handoffRef>;

const checkPlan = object({
  name: text,
  /** Missing if another system runs the check and reports it. */
  run: optional(text),
  timeout_ms: optional(whole),
  /** Variables of the daemon that the check gets besides the default list, those of the whole project included. */
  env_pass: optional(list(text)),
  /** What the check can reach: `full`, or hosts; missing: nothing. */
  network: optional({
    kind: 'either',
    options: [choice(['full', 'none']), list(text)],
    expected: 'full, none or hosts',
  }),
});
export type CheckPlan = ValueOf<typeof checkPlan>;
const checkOutcome = choice(['passed', 'failed', 'cancelled']);
export type CheckOutcome = ValueOf<typeof checkOutcome>;
const mergeMethod = choice(['squash', 'merge', 'rebase']);
export type MergeMethod = ValueOf<typeof mergeMethod>;

const pullRepository = {
  /** `owner/name`, preceded by the host unless that is github.com. */
  repository: text,
  remote: text,
};
export type PullRepository = FieldsOf<typeof pullRepository>;
const checksRef = { checks_id: text, task_id: text, head: text };

/**
 * The entries about a task between its sessions, and what Baton measures of a session. As with runs, whatever must be done outside is an
 * entry (`…Requested`) that is owed until another entry records its outcome.
 */
export const WORKFLOW_EVENTS = {
  BranchNamed: { task_id: text, branch: text },
  /** Written before the agent is started. */
  SessionPrepared: {
    /** Position of the main branch when the first session of the task was prepared. */
    main: optional(text),
    agent_id: text,
    task_id: text,
    epoch: whole,
    workspace: text,
    branch: text,
    /** The commit that the session starts from, and is measured against. */
    base: text,
    /** Start of an earlier session whose work broke a constraint and is still there: constraints are measured from this commit. */
    since: optional(text),
    port: nullable(whole),
    mission: missionShape,
  },
  /** What a session really did; recorded in the transaction that ends it. */
  SessionMeasured: {
    task_id: text,
    epoch: whole,
    session_id: text,
    base: text,
    head: text,
    commits: whole,
    file_count: whole,
    files: list(object({ path: text, action: text })),
    new_dependencies: list(text),
    /** For people. */
    violations: list(text),
    /** The kinds of the violations, each once: rules decide by these. Entries without it are read by `upcast`. */
    broken: list(choice(VIOLATION_KINDS)),
  },
  /** Totals of a session; the newest counts. */
  SessionUsed: {
    agent_id: text,
    conversation_id: nullable(text),
    model: nullable(text),
    input_tokens: whole,
    output_tokens: whole,
    cached_tokens: whole,
    cost_millicents: nullable(whole),
    turns: whole,
    /** Tokens that were used while the agent had nothing to do but wait. */
    waiting_tokens: whole,
    /** Tokens without a price: neither the client nor the runbook knows one. */
    unpriced_tokens: optional(whole),
    /** An estimate for requests in progress: each as much as the largest of the run. Missing if there are none. */
    reserved_tokens: optional(whole),
    reserved_millicents: optional(whole),
  },

  /** The required checks of a task's head commit, in a clean checkout of it. */
  ChecksRequested: { ...checksRef, checks: list(checkPlan) },
  /** `log`: the whole log, as a blob. `output`: the end of it. */
  CheckFinished: {
    ...checksRef,
    name: text,
    outcome: checkOutcome,
    exit_code: nullable(whole),
    log: nullable(text),
    output: nullable(text),
    /** The kind of sandbox that it ran in; missing if there is no record, or another system ran it. */
    sandbox: optional(text),
  },
  /** `sandbox`: the weakest that one of them had; missing if one has no record. */
  ChecksFinished: { ...checksRef, outcome: checkOutcome, sandbox: optional(text) },

  /** One merge at a time, onto the main branch as it is then; the checks run again on the merged tree. */
  MergeRequested: {
    merge_id: text,
    task_id: text,
    head: text,
    branch: text,
    /** Empty: the repository's main branch. */
    into: text,
    method: mergeMethod,
    checks: list(checkPlan),
    message: text,
    /** If it is a pull request: GitHub merges it. */
    pull: optional(object(pullRepository)),
    /** Delivered after the merge: the validator's handoff to the closer. */
    handoff: nullable(handoffRef),
  },
  /** The merge commit is made and checked, and `branch` moves to it next. After a crash only this commit is looked for on the branch. */
  MergePrepared: { merge_id: text, task_id: text, head: text, branch: text, base: text, merge_sha: text },
  MergeFinished: {
    merge_id: text,
    task_id: text,
    outcome: choice(['merged', 'conflict', 'failed', 'refused']),
    head: text,
    /** Position of the main branch before the merge. */
    base: nullable(text),
    merge_sha: nullable(text),
    /** The cause, if it is not the merged tree; rules and handoffs decide by this and not by the reason. */
    failure: optional(choice(['writeback'])),
    reason: nullable(text),
    files: list(text),
    output: nullable(text),
    /** That of the checks of the merged tree; missing if there is no record. */
    sandbox: optional(text),
  },

  /** The main branch moved without Baton, or Baton saw it for the first time. */
  MainMoved: {
    branch: text,
    /** The main branch before, if the repository names another one now. */
    previous_branch: optional(text),
    /** Null for the first time. */
    old: nullable(text),
    new: text,
    fast_forward: flag,
    commits: whole,
    /** Whether the new commits are on the upstream branch that Baton fetched; null if that was not checked. */
    on_upstream: nullable(flag),
    /** A digest of the address of the upstream branch; null if there is none. */
    upstream: nullable(text),
    /** With the number of their commits; the first few. */
    authors: list(text),
    /** The first changed files; null if no person is asked. */
    stat: nullable(text),
    /** Sessions without a sandbox that were running since the position before was last seen. */
    sessions: list(object({ id: text, name: text, task_id: nullable(text) })),
  },

  /** The branch is to be at GitHub with this head, and its pull request open and up to date. */
  PullRequestRequested: {
    ...pullRepository,
    pull_id: text,
    task_id: text,
    branch: text,
    head: text,
    /** Empty: the repository's main branch. */
    into: text,
    title: text,
    body: text,
    draft: flag,
  },
  PullRequestPublished: {
    pull_id: text,
    task_id: text,
    number: whole,
    url: text,
    head: text,
    how: choice(['opened', 'found', 'updated', 'reopened']),
    /** The required checks of this head that GitHub runs: Baton polls them until they have ended. */
    watch: list(text),
  },
  PullRequestFailed: { pull_id: text, task_id: text, reason: text },
  /** The task was cancelled. */
  PullRequestCloseRequested: { pull_id: text, task_id: text, repository: text, number: whole, comment: text },
  PullRequestClosed: {
    pull_id: text,
    task_id: text,
    number: whole,
    outcome: choice(['closed', 'merged', 'failed']),
    reason: nullable(text),
  },
  /** The task was cancelled: its worktree and branch are removed if they hold nothing. */
  PlaceClearRequested: { task_id: text, branch: text },
  /** `reason`: what the worktree or branch holds, or why it could not be removed. */
  PlaceCleared: { task_id: text, branch: text, outcome: choice(['removed', 'kept', 'absent']), reason: nullable(text) },
  /** The protected paths that the branch changes between the merge base and its head, as many as an entry has room for. */
  ProtectedMeasured: { task_id: text, head: text, base: text, paths: list(text) },
  MergeHeld: { merge_id: text, task_id: text, head: text, handoff: nullable(handoffRef) },
  /** A person agreed to merge this commit although it changes protected paths. */
  MergeAgreed: { task_id: text, head: text, by: text },
  /** The task cannot be claimed until a person answers: a checkpoint of its workflow's mode. */
  TaskHeld: { task_id: text, decision_id: text, stage: text },
  TaskFreed: { task_id: text },
  /** The next claim belongs to this agent, or to this person; to anybody if both are null. */
  TaskAssigned: {
    task_id: text,
    agent: nullable(typed<AgentPlan>()),
    person: nullable(text),
    /** Why an operator took an assignment back. */
    reason: optional(text),
  },
  /**
   * `runbook`: the one that the workflow follows to its end. Entries from before runbooks were adopted have none. `worker`: the worker that
   * started it; missing if an operator did.
   */
  WorkflowStarted: { task_id: text, mode: choice(WORKFLOW_MODES), runbook: optional(text), worker: optional(text) },
  /** The workflow is closed: its issue at GitHub gets a comment, and is closed. A comment with `mark` is not written again. */
  GithubIssueCloseRequested: {
    close_id: text,
    task_id: text,
    repository: text,
    number: whole,
    comment: text,
    mark: text,
  },
  /** `was-closed`: the issue was closed before; it got the comment. */
  GithubIssueClosed: {
    close_id: text,
    task_id: text,
    number: whole,
    outcome: choice(['closed', 'was-closed', 'failed']),
    reason: nullable(text),
  },
  /** Recorded so that a second delivery of the same webhook is ignored. */
  WebhookReceived: { delivery_id: text, source: choice(['github']), event: text },
} as const;

export type WorkflowEvents = {
  readonly [T in keyof typeof WORKFLOW_EVENTS]: FieldsOf<(typeof WORKFLOW_EVENTS)[T]>;
};
