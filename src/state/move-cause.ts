/**
 * Why a task changed its phase, as data. Rules decide by this value alone: the `reason` beside it may quote an agent and is for display.
 * Only Baton's own code chooses a cause; no message of an agent carries one.
 */
export const MOVE_CAUSES = [
  /** The session's exit signal, without a handoff. */
  'exit-signal',
  /** A handoff was delivered. */
  'handoff',
  /** `task_update`: the holder or an operator reported the task blocked. */
  'updated',
  /** `task_update`, `task_complete` or an operator: the work is done. */
  'completed',
  /** An operator completed the task without a thought record. */
  'waived',
  /** The closer has closed the workflow. */
  'closed',
  /** A reviewer claimed the task. */
  'review-began',
  /** The reviewer's claim ended without a verdict. */
  'review-ended',
  /** The agent or pipeline that held the claim ended without an exit signal. */
  'run-ended',
  /** A message that was kept while a claim lived is judged where the task was then. */
  'claim-restored',
  /** An operator cancelled the task. */
  'cancelled',
  /** An operator unblocked the task. */
  'unblocked',
  /** The work begins again. */
  'reinstated',
  /** An operator imported the task from another tool. */
  'imported',
  /** An operator made a workflow of the task. */
  'workflow-started',
  /** A person answered a decision. */
  'decision',
  /** A recoverable error is tried again after its wait. */
  'retried',
  /** The CI gate: checks passed, failed, or are not required. */
  'checks',
  /** The CI gate has no commit to check. */
  'nothing-to-check',
  /** The pull request is open, and there is no CI gate. */
  'published',
  /** The pull request cannot be opened or brought up to date. */
  'publish-failed',
  /** Baton merged the work. */
  'merged',
  /** The merge conflicts, or its checks failed: the work goes to the fixer. */
  'merge-failed',
  /** The merge cannot be tried. */
  'merge-refused',
  /** The entry is older than typed causes, and its text names none that can be trusted. */
  'unrecorded',
] as const;

export type MoveCause = (typeof MOVE_CAUSES)[number];
