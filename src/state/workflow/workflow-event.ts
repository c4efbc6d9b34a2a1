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
import { SESSION_EVENTS, suspectSession } from './session-event.ts';
import { handoffRef, VERDICT_EVENTS } from './verdict-event.ts';

export { handoffRef, type HandoffRef } from './verdict-event.ts';

const checkPlan = object({
  name: text,
  /** Absent if another system runs the check and reports it. */
  run: optional(text),
  timeout_ms: optional(whole),
  /** The daemon's variables that the check gets besides the default list, including the project's. */
  env_pass: optional(list(text)),
  /** The network of the check: `full`, `dev`, or hosts; absent for none. */
  network: optional({
    kind: 'either',
    options: [choice(['full', 'dev', 'none']), list(text)],
    expected: 'full, dev, none or hosts',
  }),
  /** Of a reported check: the repository, as in `owner/name`, and the app from which reports count. */
  repository: optional(text),
  app: optional(text),
  /** `skipped` and `neutral`, as far as they count as passed. */
  allow: optional(list(text)),
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
/** Who reported a check: a repository, as in `owner/name`, and an app, as in `github-actions`. */
const checkReporter = object({ repository: text, app: text });
export type CheckReporter = ValueOf<typeof checkReporter>;
const checksRef = { checks_id: text, task_id: text, head: text };

/**
 * The entries about a task between its sessions, and Baton's measurements of a session. As with runs, an entry
 * (`…Requested`) requests each effect, which is owed until another entry records its outcome.
 */
export const WORKFLOW_EVENTS = {
  BranchNamed: { task_id: text, branch: text },
  ...SESSION_EVENTS,

  /** The required checks of a task's head commit, to run in a clean checkout. */
  ChecksRequested: { ...checksRef, checks: list(checkPlan) },
  /** `log`: the whole log, as a blob. `output`: its end. */
  CheckFinished: {
    ...checksRef,
    name: text,
    outcome: checkOutcome,
    exit_code: nullable(whole),
    log: nullable(text),
    output: nullable(text),
    /** The kind of sandbox of the check; absent if there is no record, or another system ran it. */
    sandbox: optional(text),
    /** The other system that ran it. From now on another app asks a person. */
    reporter: optional(checkReporter),
  },
  /** A report of a check that counts only if a person accepts it. */
  CheckQuestioned: {
    ...checksRef,
    name: text,
    outcome: checkOutcome,
    conclusion: text,
    reporter: checkReporter,
    because: choice(['repository', 'app', 'conclusion']),
    output: nullable(text),
  },
  /** `sandbox`: the weakest sandbox of the checks; absent if one has no record. */
  ChecksFinished: { ...checksRef, outcome: checkOutcome, sandbox: optional(text) },

  /** Requests one merge, onto the main branch's current position; the checks run again on the merged tree. */
  MergeRequested: {
    merge_id: text,
    task_id: text,
    head: text,
    branch: text,
    /** Empty for the repository's main branch. */
    into: text,
    method: mergeMethod,
    checks: list(checkPlan),
    message: text,
    /** Set if GitHub merges the pull request. */
    pull: optional(object(pullRepository)),
    /** The validator's handoff to the closer, delivered after the merge. */
    handoff: nullable(handoffRef),
  },
  /**
   * The merge commit is made and checked, and `branch` moves to it next. After a crash only this commit is searched for
   * on the branch.
   */
  MergePrepared: { merge_id: text, task_id: text, head: text, branch: text, base: text, merge_sha: text },
  MergeFinished: {
    merge_id: text,
    task_id: text,
    outcome: choice(['merged', 'conflict', 'failed', 'refused']),
    head: text,
    /** The main branch's commit before the merge. */
    base: nullable(text),
    merge_sha: nullable(text),
    /** The cause, if it is not the merged tree; rules and handoffs decide by it and not by the reason. */
    failure: optional(choice(['writeback'])),
    reason: nullable(text),
    files: list(text),
    output: nullable(text),
    /** The weakest sandbox of the merged tree's checks; absent if there is no record. */
    sandbox: optional(text),
  },

  /** The main branch moved without Baton, or Baton observed it for the first time. */
  MainMoved: {
    branch: text,
    /** The former main branch, if the repository now names another one. */
    previous_branch: optional(text),
    /** Null for the first observation. */
    old: nullable(text),
    new: text,
    fast_forward: flag,
    commits: whole,
    /** Whether the fetched upstream branch has the new commits; null if that was not checked. */
    on_upstream: nullable(flag),
    /** A digest of the upstream's address; null if there is none. */
    upstream: nullable(text),
    /** The first few authors, with the number of their commits. */
    authors: list(text),
    /** The first changed files; null if no person is asked. */
    stat: nullable(text),
    /** Sessions without a sandbox that ran since the previous position was last observed. */
    sessions: list(suspectSession),
    /** Tasks whose commits came onto the branch, although Baton did not merge them. */
    carried: optional(list(text)),
  },

  /** Requests that GitHub has the branch with this head, and that its pull request is open and up to date. */
  PullRequestRequested: {
    ...pullRepository,
    pull_id: text,
    task_id: text,
    branch: text,
    head: text,
    /** Empty for the repository's main branch. */
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
    /** The required checks of this head that GitHub runs. Baton polls them until they have ended. */
    watch: list(text),
  },
  PullRequestFailed: { pull_id: text, task_id: text, reason: text },
  /** Requests to close the pull request, because the task was cancelled. */
  PullRequestCloseRequested: { pull_id: text, task_id: text, repository: text, number: whole, comment: text },
  PullRequestClosed: {
    pull_id: text,
    task_id: text,
    number: whole,
    outcome: choice(['closed', 'merged', 'failed']),
    reason: nullable(text),
  },
  /** Requests to remove the worktree and branch of a cancelled task, if they are empty. */
  PlaceClearRequested: { task_id: text, branch: text },
  /** `reason`: the content of the worktree or branch, or why it could not be removed. */
  PlaceCleared: { task_id: text, branch: text, outcome: choice(['removed', 'kept', 'absent']), reason: nullable(text) },
  /** The protected paths that the branch changes between the merge base and its head, as many as fit into an entry. */
  ProtectedMeasured: { task_id: text, head: text, base: text, paths: list(text) },
  MergeHeld: { merge_id: text, task_id: text, head: text, handoff: nullable(handoffRef) },
  /** A person agreed to merge this commit although it changes protected paths. */
  MergeAgreed: { task_id: text, head: text, by: text },
  ...VERDICT_EVENTS,
  /** The task cannot be claimed until a person answers: a checkpoint of its workflow's mode. */
  TaskHeld: { task_id: text, decision_id: text, stage: text },
  TaskFreed: { task_id: text },
  /** The next claim is reserved for this agent or this person. If both are null, nothing is reserved. */
  TaskAssigned: {
    task_id: text,
    agent: nullable(typed<AgentPlan>()),
    person: nullable(text),
    /** Why an operator revoked an assignment. */
    reason: optional(text),
  },
  /**
   * `runbook`: the one that the workflow follows to its end; absent in entries from before runbooks were adopted.
   * `worker`: the worker that started it; absent if an operator did.
   */
  WorkflowStarted: { task_id: text, mode: choice(WORKFLOW_MODES), runbook: optional(text), worker: optional(text) },
  /**
   * The workflow is closed, so its issue at GitHub gets a comment and is closed. A comment with `mark` is not written
   * twice.
   */
  GithubIssueCloseRequested: {
    close_id: text,
    task_id: text,
    repository: text,
    number: whole,
    comment: text,
    mark: text,
  },
  /** `was-closed`: the issue was already closed, and got only the comment. */
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
