import type { AgentSessionCompleted } from '../protocol/agent-session-completed.ts';
import type { Phase } from '../protocol/phase.ts';
import type { Result } from '../protocol/result.ts';
import type { Requirement } from '../protocol/run-plan.ts';
import type { ThoughtRecord } from '../protocol/thought-record.ts';
import type { RunEvents } from './runs/run-event.ts';
import type { HandoffRef, WorkflowEvents } from './workflow/workflow-event.ts';

/**
 * Everything that can happen to tasks, by the name it has in the ledger. Fields are snake_case because they are what is
 * written; what has once been written keeps its meaning for ever.
 */
export interface Events extends RunEvents, WorkflowEvents {
  TaskCreated: {
    readonly task_id: string;
    /** The serial number in the project, from 1. */
    readonly n: number;
    readonly title: string;
    readonly after: readonly string[];
    readonly priority: number;
    readonly phase: Phase;
    readonly next_role: string | null;
    readonly prompt_file: string | null;
    readonly epic_id: string | null;
    readonly prd_id: string | null;
  };
  DependencyAdded: { readonly task_id: string; readonly after: string };
  TaskClaimed: {
    readonly task_id: string;
    readonly epoch: number;
    readonly session_id: string;
    readonly holder: string;
    /** Who answers for the work, by the token that made the claim: see `principal.ts`. `holder` is only a label. */
    readonly principal: string;
    readonly role: string | null;
    /** What the session owes before it may complete. */
    readonly requires: readonly Requirement[];
    /** The process whose end is the end of the session, where one is known: see `api/process-identity`. */
    readonly process?: string;
  };
  PhaseMoved: {
    readonly task_id: string;
    readonly from: Phase;
    readonly to: Phase;
    readonly next_role: string | null;
    /** What rules decide by. Entries that have none are read by `upcast.ts`. */
    readonly cause: MoveCause;
    /** For people; it may quote an agent. */
    readonly reason: string;
  };
  ClaimCompleted: ClaimEnd;
  ClaimBlocked: ClaimEnd;
  ClaimFailed: ClaimEnd;
  ClaimReleased: ClaimEnd;
  ClaimExpired: ClaimEnd;
  ClaimRevoked: ClaimEnd;
  /** A message that was kept while the claim lived came after the claim had lapsed, and ends the claim as it would have then. */
  ClaimRestored: ClaimRef;
  TaskProgressed: {
    readonly task_id: string;
    readonly epoch: number | null;
    readonly progress: number | null;
    readonly notes: string | null;
  };
  ThoughtRecorded: {
    readonly record_id: string;
    readonly task_id: string;
    /** The claim it was made under, or for; null where there was none. */
    readonly epoch: number | null;
    readonly record: ThoughtRecord;
  };
  /** The task is to be done again: what was recorded before is no longer a writeback. */
  TaskReinstated: { readonly task_id: string; readonly reason: string };
  WritebackWaived: { readonly task_id: string; readonly reason: string };
  /** An operator approves a change of their own, at this commit. */
  SelfApproved: {
    readonly task_id: string;
    readonly by: string;
    readonly head: string;
    readonly reason: string;
  };
  AgentSessionCompleted: AgentSessionCompleted;
  ResultSubmitted: ClaimRef & { readonly result: Result };
  /** Sent under a claim; it takes effect when the session ends. */
  HandoffHeld: HandoffRef;
  HandoffDelivered: HandoffRef;
  HandoffDropped: HandoffRef & { readonly reason: string };
  AuditSessionStarted: { readonly audit_id: string; readonly task_id: string | null };
  /** Written by the ledger itself; here it settles what was owed. */
  LedgerSealed: { readonly size: number; readonly root: string; readonly checkpoint: string };
  AuditChainVerified: { readonly audit_id: string; readonly size: number; readonly root: string };
  /** The runbook that gates, merges and workers go by from now on. */
  RunbookAdopted: {
    /** Of its canonical content, which is kept as a blob. */
    readonly sha256: string;
    readonly runbook_blob: string;
    /** The one in force before; null for the first. */
    readonly previous: string | null;
    /** The commit of the main branch that has this content; null for a working file. */
    readonly commit: string | null;
    /** The content that the main branch had at the time; null if it had none. */
    readonly committed: string | null;
    readonly by: string;
  };
  /** An operator answered that nothing is checked before a merge, as long as the runbook does not say anything about checks. */
  ChecksDeclined: { readonly by: string };
}

export type { Requirement } from '../protocol/run-plan.ts';

interface ClaimRef {
  readonly task_id: string;
  readonly epoch: number;
  readonly session_id: string;
}

export interface ClaimEnd extends ClaimRef {
  readonly reason: string | null;
}

export type EventType = keyof Events;

/** What is to be recorded. */
export type Event = { [T in EventType]: EventOf<T> }[EventType];

export interface EventOf<T extends EventType> {
  readonly type: T;
  readonly data: Events[T];
}

/** What was recorded, with the part of its envelope that the fold looks at. */
export type RecordedEvent = Event & {
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  /** The command that this entry, and those recorded with it, have settled. */
  readonly settles?: SettledRequest;
};

/** A client that heard no answer sends its command again, with the same key. */
export interface SettledRequest {
  readonly key: string;
  readonly answer: unknown;
}

export function event<T extends EventType>(type: T, data: Events[T]): EventOf<T> {
  return { type, data };
}

/** The six ways in which a claim ends, and the entry each one leaves. */
export const CLAIM_ENDS = {
  completed: 'ClaimCompleted',
  blocked: 'ClaimBlocked',
  failed: 'ClaimFailed',
  released: 'ClaimReleased',
  expired: 'ClaimExpired',
  revoked: 'ClaimRevoked',
} as const satisfies Record<string, EventType>;

export type HowClaimEnded = keyof typeof CLAIM_ENDS;

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
