import type { CheckOutcome, CheckPlan, HandoffRef, PullRepository, WorkflowMode } from './workflow-event.ts';

/** How a task stands in its workflow: what no session holds, because it is there between them. */
export interface Flow {
  /** How much of it people want to see; null where it is no workflow. */
  readonly mode: WorkflowMode | null;
  /** The runbook that the workflow was started with; null: the one in force counts. */
  readonly runbook: string | null;
  /** Nobody may claim it before a person has spoken. */
  readonly held: { readonly decisionId: string; readonly stage: string } | null;
  /** The branch it is worked on in, by the name that was recorded. */
  readonly branch: string | null;
  /** Where its sessions work. */
  readonly place: SessionPlace | null;
  /** Where the main branch stood when its first session was prepared; null if no session was. */
  readonly mainAt: string | null;
  /** The commit that the newest session left its branch at: as it was measured, or, of a claim by hand, as its record names it. */
  readonly head: string | null;
  /** The entry that says so; 0 if none does. */
  readonly headAt: number;
  /** The head with which it last came to review or to the merge; left out before that. */
  readonly judged?: string | null;
  /** Work that broke a constraint: where the session began that did it, and where it left it. Whoever comes next answers for it too. */
  readonly unfit: { readonly base: string; readonly head: string } | null;
  /** The newest handoff that was delivered: what the next role is given. */
  readonly handoff: HandoffRef | null;
  /** What is to be done, as the issue-manager wrote it: everybody after it works by it. */
  readonly issue: HandoffRef | null;
  /** The principals that implemented or fixed it: they do not approve it. */
  readonly authors: readonly string[];
  /** A review that found nothing against this commit; it says nothing about any other. */
  readonly approval: {
    readonly head: string | null;
    readonly by: string;
    /** Of the approver; left out for an operator of an entry that does not name one. */
    readonly principal?: string;
  } | null;
  /** An operator approved a change of their own; it says nothing about any other commit. */
  readonly selfApproval: { readonly head: string; readonly by: string; readonly reason: string } | null;
  /** When it began, as a workflow. */
  readonly startedAt: string | null;
  /** How many commits its sessions made, as they were measured. */
  readonly commits: number;
  /** How often a reviewer handed it on, to whomever. */
  readonly reviews: number;
  /** How often it went back to the fixer. */
  readonly rounds: number;
  /** What was found the last time, and in how many rounds running. */
  readonly findings: Readonly<Record<string, number>>;
  /** How often a recoverable error was tried again, since something last went well. */
  readonly retries: number;
  readonly checks: CheckRun | null;
  readonly pull: PullRequest | null;
  readonly merge: PendingMerge | null;
  /** The protected paths that its branch changes, as they were last measured; null if there were never any. */
  readonly protected: { readonly head: string; readonly base: string; readonly paths: readonly string[] } | null;
  /** The merge that a person was asked about, with what is delivered after it. */
  readonly heldMerge: { readonly head: string; readonly handoff: HandoffRef | null } | null;
  /** The commit that a person agreed to merge although it changes protected paths. */
  readonly agreed: string | null;
  /** The entry that brought it into its phase. */
  readonly movedAt: number;
  /** What Baton's own merge made of it. */
  readonly mergeSha: string | null;
  /** Where the main branch stood before it; the same where there was nothing to merge. */
  readonly mergeBase: string | null;
}

export interface SessionPlace {
  readonly workspace: string;
  readonly branch: string;
  /** Where the newest session began. */
  readonly base: string;
  readonly port: number | null;
}

/** A merge that was asked for and has not ended. */
export interface PendingMerge {
  readonly id: string;
  readonly head: string;
  readonly handoff: HandoffRef | null;
  /** GitHub merges it: the commit is GitHub's. */
  readonly isAtGithub?: boolean;
  /** The commit that the branch moves to, and from where; recorded before it moves. */
  readonly prepared?: { readonly branch: string; readonly base: string; readonly sha: string };
}

/** The task's pull request at GitHub. */
export interface PullRequest extends PullRepository {
  /** The newest request for it. */
  readonly id: string;
  /** The commit it is to have. */
  readonly head: string;
  /** The commit that was last pushed; null before the first time. */
  readonly published: string | null;
  readonly number: number | null;
  readonly url: string | null;
  /** It is on its way to GitHub: asked for, and not yet heard of. */
  readonly isWanted: boolean;
  /** Baton closes it, or has closed it, and may open it again. */
  readonly isClosed: boolean;
}

export interface CheckRun {
  readonly id: string;
  readonly head: string;
  readonly plans: readonly CheckPlan[];
  readonly outcomes: Readonly<Record<string, CheckOutcome>>;
  readonly outcome: CheckOutcome | null;
}

export const NO_FLOW: Flow = {
  mode: null,
  runbook: null,
  held: null,
  branch: null,
  place: null,
  mainAt: null,
  head: null,
  headAt: 0,
  unfit: null,
  handoff: null,
  issue: null,
  authors: [],
  approval: null,
  selfApproval: null,
  startedAt: null,
  commits: 0,
  reviews: 0,
  rounds: 0,
  findings: {},
  retries: 0,
  checks: null,
  pull: null,
  merge: null,
  protected: null,
  heldMerge: null,
  agreed: null,
  movedAt: 0,
  mergeSha: null,
  mergeBase: null,
};
