import type { CheckOutcome, CheckPlan, HandoffRef, PullPlace, WorkflowMode } from './workflow-event.ts';

/** How a task stands in its workflow: what no session holds, because it is there between them. */
export interface Flow {
  /** How much of it people want to see; null where it is no workflow. */
  readonly mode: WorkflowMode | null;
  /** Nobody may claim it before a person has spoken. */
  readonly held: { readonly decisionId: string; readonly stage: string } | null;
  /** The branch it is worked on in, by the name that was recorded. */
  readonly branch: string | null;
  /** Where its sessions work. */
  readonly place: Place | null;
  /** The commit that the newest session left its branch at, as it was measured. */
  readonly head: string | null;
  /** Work that broke a constraint: where the session began that did it, and where it left it. Whoever comes next answers for it too. */
  readonly unfit: { readonly base: string; readonly head: string } | null;
  /** The newest handoff that was delivered: what the next role is given. */
  readonly handoff: HandoffRef | null;
  /** What is to be done, as the issue-manager wrote it: everybody after it works by it. */
  readonly issue: HandoffRef | null;
  /** Who implemented or fixed it, by name: they do not approve it. */
  readonly authors: readonly string[];
  /** A review that found nothing against this commit; it says nothing about any other. */
  readonly approval: { readonly head: string | null; readonly by: string } | null;
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
  readonly checks: Checks | null;
  readonly pull: Pull | null;
  readonly merge: { readonly id: string; readonly head: string; readonly handoff: HandoffRef | null } | null;
  /** The entry that brought it into its phase. */
  readonly movedAt: number;
  /** What Baton's own merge made of it. */
  readonly mergeSha: string | null;
  /** Where the main branch stood before it; the same where there was nothing to merge. */
  readonly mergeBase: string | null;
}

export interface Place {
  readonly workspace: string;
  readonly branch: string;
  /** Where the newest session began. */
  readonly base: string;
  readonly port: number | null;
}

/** The task's pull request at GitHub. */
export interface Pull extends PullPlace {
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

export interface Checks {
  readonly id: string;
  readonly head: string;
  readonly plans: readonly CheckPlan[];
  readonly outcomes: Readonly<Record<string, CheckOutcome>>;
  readonly outcome: CheckOutcome | null;
}

export const NO_FLOW: Flow = {
  mode: null,
  held: null,
  branch: null,
  place: null,
  head: null,
  unfit: null,
  handoff: null,
  issue: null,
  authors: [],
  approval: null,
  startedAt: null,
  commits: 0,
  reviews: 0,
  rounds: 0,
  findings: {},
  retries: 0,
  checks: null,
  pull: null,
  merge: null,
  movedAt: 0,
  mergeSha: null,
  mergeBase: null,
};
