import type { Phase } from '../../protocol/phase.ts';
import type { ThoughtRecord } from '../../protocol/thought-record.ts';
import type { HowClaimEnded, Requirement } from '../event.ts';
import type { Flow } from '../workflow/flow.ts';
import type { HandoffRef } from '../workflow/workflow-event.ts';

/** A unit of work, as the fold of everything that was recorded about it. Never changed in place. */
export interface Task {
  readonly id: string;
  readonly n: number;
  readonly title: string;
  readonly after: readonly string[];
  readonly priority: number;
  readonly promptFile: string | null;
  readonly epicId: string | null;
  readonly prdId: string | null;
  readonly phase: Phase;
  /** Where the work began, or began again: a task still there, unclaimed, is `todo`. */
  readonly firstPhase: Phase;
  /** Somebody has taken it past its first phase; a fixer's task that is back there is still under way. */
  readonly begun: boolean;
  /** The phase to return to, and why, while the task is BLOCKED. */
  readonly blocked: {
    readonly from: Phase;
    readonly reason: string;
    /** An operator cancelled it. Who else says the same word in a reason has not. */
    readonly isCancelled?: true;
  } | null;
  readonly nextRole: string | null;
  /** The epoch of the newest claim there ever was; 0 before the first. */
  readonly epoch: number;
  readonly claim: Claim | null;
  /** The claim that ended last, if time or the end of a process ended it and nothing has happened to the task since. */
  readonly lapsed: LapsedClaim | null;
  /** How earlier claims ended, newest last, for whoever comes next. */
  readonly endings: readonly ClaimEnding[];
  readonly progress: number | null;
  readonly notes: string | null;
  /** Seq of the entry since which records count as writeback. */
  readonly since: number;
  readonly records: readonly ThoughtRecordRef[];
  readonly latestRecord: ThoughtRecord | null;
  /** What happens to it between its sessions. */
  readonly flow: Flow;
}

export interface Claim {
  readonly epoch: number;
  readonly sessionId: string;
  readonly holder: string;
  readonly principal: string;
  readonly role: string | null;
  readonly requires: readonly Requirement[];
  readonly at: string;
  /** A review that ends uncompleted goes back to this phase. */
  readonly from: Phase;
  readonly process: string | null;
  readonly resultStatus: string | null;
  readonly handoff: HeldHandoff | null;
  /** The handoff that was dropped last: a claim that lapses and is restored has it again. */
  readonly dropped?: HeldHandoff;
}

/** A claim as it was when it lapsed, and where the task stood. */
export interface LapsedClaim {
  readonly claim: Claim;
  readonly phase: Phase;
  readonly nextRole: string | null;
  readonly at: string;
}

/** Sent, and not yet delivered. */
export type HeldHandoff = HandoffRef;

export interface ClaimEnding {
  readonly epoch: number;
  readonly sessionId: string;
  readonly holder: string;
  readonly principal: string;
  readonly how: HowClaimEnded;
  readonly reason: string | null;
  readonly at: string;
}

export interface ThoughtRecordRef {
  readonly id: string;
  readonly seq: number;
  readonly epoch: number | null;
  readonly commitSha: string;
  /** A record that reinstates is an account of undone work, never a writeback. */
  readonly reinstates: boolean;
}

export type Status = 'todo' | 'in_progress' | 'blocked' | 'done' | 'cancelled';

/** Status is derived, never stored: it cannot disagree with the phase. */
export function taskStatus(task: Task): Status {
  if (task.phase === 'COMPLETED') return 'done';
  if (task.phase === 'BLOCKED') return isCancelled(task) ? 'cancelled' : 'blocked';
  return task.claim !== null || task.begun || task.phase !== task.firstPhase ? 'in_progress' : 'todo';
}

/** An operator cancelled it. Only reinstating ends that. */
export function isCancelled({ blocked }: Pick<Task, 'blocked'>): boolean {
  return blocked?.isCancelled === true;
}

const WORKABLE: ReadonlySet<Phase> = new Set([
  'DRAFT',
  'IMPLEMENTATION',
  'READY_FOR_REVIEW',
  'REVIEW',
  'READY_FOR_MERGE',
]);

/** Whether somebody can work in this phase. CI works in CI_PENDING, where there is a CI gate. */
export function isWorkable(phase: Phase, ciGate: boolean): boolean {
  return WORKABLE.has(phase) || (phase === 'CI_PENDING' && !ciGate);
}

/** The records that may stand for writeback: made since the task was made or reinstated, and not themselves a reinstatement. */
export function writebackRecords(task: Task): readonly ThoughtRecordRef[] {
  return task.records.filter((record) => record.seq > task.since && !record.reinstates);
}

/** Epic, PRD and the id in the T-form, as missions name the task. */
export function missionIds(task: Task): { readonly taskId: string; readonly epicId: string; readonly prdId: string } {
  const taskId = /^T[0-9]+$/.test(task.id) ? task.id : `T${String(task.n).padStart(3, '0')}`;
  return { taskId, epicId: task.epicId ?? 'E000', prdId: task.prdId ?? 'PRD-000' };
}

/** The phases in which a change is judged: to leave one of them forwards is to approve the change. */
export const JUDGED_PHASES: ReadonlySet<Phase> = new Set(['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE']);

/** Whether a move approves a change. A task that goes straight from IMPLEMENTATION to COMPLETED was never up for approval. */
export function isApproval(from: Phase, to: Phase | null): boolean {
  if (to === 'READY_FOR_MERGE') return from !== to;
  return to === 'COMPLETED' && JUDGED_PHASES.has(from);
}

/**
 * Whether the sessions of a task end with an exit signal. Sessions of the built-in workflow always do, because its roles are told to send
 * one; for all others the project's flag decides.
 */
export function usesExitProtocol(task: Pick<Task, 'flow'> | undefined, flag: boolean): boolean {
  return flag || (task !== undefined && task.flow.mode !== null);
}
