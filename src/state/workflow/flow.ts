import type { Constraint } from '../../protocol/agent-session-completed.ts';
import type { AgentPlan, WorkflowMode } from '../../protocol/run-plan.ts';
import type { Phase } from '../../protocol/phase.ts';
import type { CheckOutcome, CheckPlan, HandoffRef, PullRepository, WorkflowEvents } from './workflow-event.ts';

/** The part of a task that persists between its sessions. */
export interface Flow {
  /** Null if the task is not a workflow. */
  readonly mode: WorkflowMode | null;
  /** The runbook with which the workflow was started; null for the one in force. */
  readonly runbook: string | null;
  /** The worker that started the workflow; null if an operator did. */
  readonly worker: string | null;
  /** Set if the task cannot be claimed before a person answers. */
  readonly held: { readonly decisionId: string; readonly stage: string } | null;
  /** Set if a person assigned the next claim to this agent, or took it. */
  readonly assigned: Assignment | null;
  readonly branch: string | null;
  readonly place: SessionPlace | null;
  /** The main branch's commit when the first session was prepared; null if none was. */
  readonly mainAt: string | null;
  /** The main branch's position before others brought a commit of the task onto it; absent if nobody did. */
  readonly mainBefore?: string;
  /** The commit at the end of the newest session: as measured, or for a claim by hand as its record names it. */
  readonly head: string | null;
  /** Seq of the entry that set `head`; 0 if none did. */
  readonly headAt: number;
  /** The time of that entry; absent if an older version folded it. */
  readonly headSince?: string;
  /** The head with which the task last came to review or to the merge; absent before that. */
  readonly judged?: string | null;
  /**
   * Work that violated a constraint: the start and the end of that session. The next sessions are measured from its
   * start too. `broken` names the constraints, and `files` counts the changed files; older entries have neither.
   */
  readonly unfit: {
    readonly base: string;
    readonly head: string;
    readonly broken?: readonly Constraint[];
    readonly files?: number;
  } | null;
  /** The constraints that an operator waived for the task; absent if there are none. */
  readonly waived?: readonly Constraint[];
  /** The newest delivered handoff that passed work on: the input of the next role. */
  readonly handoff: HandoffRef | null;
  /** The issue-manager's handoff, which all later roles follow. */
  readonly issue: HandoffRef | null;
  /** The principals that implemented or fixed the task; they must not approve it. */
  readonly authors: readonly string[];
  /** The approval, which is valid for this commit only. */
  readonly approval: {
    readonly head: string | null;
    readonly by: string;
    /** Absent for an operator whom an old entry does not name. */
    readonly principal?: string;
    /** Set if the approver's client could not prove that it sent the approval, and how it came to count. */
    readonly unproven?: 'accepted' | 'confirmed';
  } | null;
  /** An approval that waits for a person's confirmation; absent if there is none. */
  readonly verdict?: HeldVerdict;
  /** An operator's approval of their own change, for this commit only. */
  readonly selfApproval: { readonly head: string; readonly by: string; readonly reason: string } | null;
  readonly startedAt: string | null;
  readonly commits: number;
  readonly reviews: number;
  readonly rounds: number;
  /** The last findings, with the number of consecutive rounds in which each occurred. */
  readonly findings: Readonly<Record<string, number>>;
  /** How often a recoverable error was reported since the last success. */
  readonly retries: number;
  /** The newest error handoff since the last success; null if there is none. */
  readonly error: HandoffRef | null;
  readonly checks: CheckRun | null;
  readonly pull: PullRequest | null;
  readonly merge: PendingMerge | null;
  /** The last measurement of protected paths; null if the branch never changed one. */
  readonly protected: { readonly head: string; readonly base: string; readonly paths: readonly string[] } | null;
  /** The merge about which a person was asked, with the handoff to deliver after it. */
  readonly heldMerge: { readonly head: string; readonly handoff: HandoffRef | null } | null;
  /** The commit that a person agreed to merge although it changes protected paths. */
  readonly agreed: string | null;
  /** Seq of the entry that moved the task into its phase. */
  readonly movedAt: number;
  readonly mergeSha: string | null;
  /** The main branch's commit before the merge; equal to `mergeSha` if there was nothing to merge. */
  readonly mergeBase: string | null;
  /** The closing of the task's issue at GitHub; null before that. */
  readonly issueClosing: { readonly id: string; readonly outcome: 'wanted' | 'closed' | 'failed' } | null;
}

export interface HeldVerdict extends Omit<WorkflowEvents['VerdictUnproven'], 'task_id' | 'held'> {
  readonly held: NonNullable<WorkflowEvents['VerdictUnproven']['held']>;
  /** The phase and the head that were judged. */
  readonly from: Phase;
  readonly head: string | null;
}

type Assignment = { readonly agent: AgentPlan } | { readonly person: string };

interface SessionPlace {
  readonly workspace: string;
  readonly branch: string;
  /** The commit at the start of the newest session. */
  readonly base: string;
  readonly port: number | null;
}

export interface PendingMerge {
  readonly id: string;
  readonly head: string;
  readonly handoff: HandoffRef | null;
  readonly isAtGithub?: boolean;
  /** The merge commit, recorded before the branch moves. */
  readonly prepared?: { readonly branch: string; readonly base: string; readonly sha: string };
}

export interface PullRequest extends PullRepository {
  readonly id: string;
  readonly head: string;
  /** The commit that was last pushed; null before the first push. */
  readonly published: string | null;
  readonly number: number | null;
  readonly url: string | null;
  /** Whether it was requested, and neither published nor failed yet. */
  readonly isWanted: boolean;
  /** Whether Baton closes or has closed it, and may reopen it. */
  readonly isClosed: boolean;
}

export interface CheckRun {
  readonly id: string;
  readonly head: string;
  readonly plans: readonly CheckPlan[];
  readonly outcomes: Readonly<Record<string, CheckOutcome>>;
  /** The failures of checks that did not pass, for people; absent if all passed so far. */
  readonly failures?: Readonly<Record<string, CheckFailureEnd>>;
  /** The sandbox of each check by name, if recorded. */
  readonly sandboxes?: Readonly<Record<string, string>>;
  /** The newest report of each check that asked a person; absent if none did. */
  readonly questions?: Readonly<Record<string, WorkflowEvents['CheckQuestioned']>>;
  readonly outcome: CheckOutcome | null;
}

interface CheckFailureEnd {
  readonly exitCode: number | null;
  /** The end of the check's output. */
  readonly output: string | null;
}

/** Returns the person who took over the task and has not claimed it yet. */
export function findTakenOverBy({ assigned }: Pick<Flow, 'assigned'>): string | undefined {
  return assigned !== null && 'person' in assigned ? assigned.person : undefined;
}

export const NO_FLOW: Flow = {
  mode: null,
  runbook: null,
  worker: null,
  held: null,
  assigned: null,
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
  error: null,
  checks: null,
  pull: null,
  merge: null,
  protected: null,
  heldMerge: null,
  agreed: null,
  movedAt: 0,
  mergeSha: null,
  mergeBase: null,
  issueClosing: null,
};

/** The commit of the task that Baton merged; null if it merged none. */
export function landedHead({ flow }: { readonly flow: Pick<Flow, 'head' | 'mergeSha'> }): string | null {
  return flow.mergeSha === null ? null : flow.head;
}
