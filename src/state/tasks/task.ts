import type { Phase } from '../../protocol/phase.ts';
import type { ThoughtRecord } from '../../protocol/thought-record.ts';
import type { Events, GithubIssueRef, HowClaimEnded } from '../event.ts';
import type { TaskWork } from '../fleet/work-place.ts';
import type { Flow } from '../workflow/flow.ts';
import type { HandoffRef } from '../workflow/workflow-event.ts';

/** A unit of work, as the fold of its entries. Immutable. */
export interface Task extends Pick<Events['TaskCreated'], 'n' | 'title' | 'after' | 'priority' | 'phase'> {
  readonly id: string;
  readonly promptFile: string | null;
  readonly epicId: string | null;
  readonly prdId: string | null;
  /** Who wrote the title and the description. */
  readonly author: TaskAuthor;
  /** Null for a task that a person or Baton made. */
  readonly origin: TaskOrigin | null;
  /** The work to do, in its author's words. */
  readonly description: string | null;
  /** The issue at GitHub that the task was imported from. */
  readonly githubIssue: GithubIssueRef | null;
  /** The phase in which the work began, or was restarted: an unclaimed task in it is `todo`. */
  readonly firstPhase: Phase;
  /** Whether the task has left its first phase before: a fixer's task that returned to it is still in progress. */
  readonly begun: boolean;
  /** The phase to return to, and the reason, while the task is BLOCKED. */
  readonly blocked: {
    readonly from: Phase;
    readonly reason: string;
    /** Set only by an operator's cancellation, never by the text of a reason. */
    readonly isCancelled?: true;
  } | null;
  readonly nextRole: string | null;
  /** The epoch of the newest claim; 0 before the first. */
  readonly epoch: number;
  readonly claim: Claim | null;
  /** The last claim, if its lease or its process ended it and the task has not changed since. */
  readonly lapsed: LapsedClaim | null;
  /** How earlier claims ended, newest last. */
  readonly endings: readonly ClaimEnding[];
  readonly progress: number | null;
  readonly notes: string | null;
  /** Records after this seq count as writeback. */
  readonly since: number;
  readonly records: readonly ThoughtRecordRef[];
  readonly latestRecord: ThoughtRecord | null;
  readonly flow: Flow;
  /** Null on SQLite. */
  readonly work: TaskWork | null;
}

/** Who wrote a task's title and description, as its entry proves it. */
interface TaskAuthor {
  /** The actor of the entry, such as `operator:ann` or `session:ID`. */
  readonly actor: string;
  /** The session that wrote the task; null if a person or Baton did. */
  readonly session: { readonly taskId: string; readonly holder: string; readonly role: string | null } | null;
  /** The person who accepted the proposal of that session; absent if nobody was asked. */
  readonly acceptedBy?: string;
}

/** Where a session's task comes from. */
export interface TaskOrigin {
  /** The task of a person at the top: its family shares the budget, see `task-family.ts`. */
  readonly root: string;
  /** How many sessions are between: 1 for a task that a session of the root made. */
  readonly depth: number;
}

export interface Claim extends Pick<Events['TaskClaimed'], 'epoch' | 'holder' | 'principal' | 'role' | 'requires'> {
  readonly sessionId: string;
  readonly at: string;
  /** The phase to which a review without a verdict returns. */
  readonly from: Phase;
  readonly process: string | null;
  /** Null if none is recorded: see `hostOf`. */
  readonly host: string | null;
  readonly resultStatus: string | null;
  readonly handoff: HeldHandoff | null;
  /** The last dropped handoff, which a lapsed claim gets back if it is restored. */
  readonly dropped?: HeldHandoff;
}

/** A claim that lapsed, with the task's phase and role at that time. */
export interface LapsedClaim extends Pick<Task, 'phase' | 'nextRole'> {
  readonly claim: Claim;
  readonly at: string;
}

export type HeldHandoff = HandoffRef;

export interface ClaimEnding extends Pick<Claim, 'epoch' | 'sessionId' | 'holder' | 'principal' | 'at'> {
  readonly how: HowClaimEnded;
  readonly reason: string | null;
}

export interface ThoughtRecordRef {
  readonly id: string;
  readonly seq: number;
  readonly epoch: number | null;
  readonly commitSha: string;
  /** Whether the record reinstates: it then describes undone work and is no writeback. */
  readonly reinstates: boolean;
}

export type Status = 'todo' | 'in_progress' | 'blocked' | 'done' | 'cancelled';

/** The status of a task. Derived, so that it cannot contradict the phase. */
export function taskStatus(task: Task): Status {
  if (task.phase === 'COMPLETED') return 'done';
  if (task.phase === 'BLOCKED') return isCancelled(task) ? 'cancelled' : 'blocked';
  return task.claim !== null || task.begun || task.phase !== task.firstPhase ? 'in_progress' : 'todo';
}

export function isCancelled({ blocked }: Pick<Task, 'blocked'>): boolean {
  return blocked?.isCancelled === true;
}

/**
 * Reports whether a session can work on the task. Without a CI gate a session completes CI_PENDING. In a workflow Baton
 * always does, even without checks.
 */
export function isWorkable({ phase, flow }: Pick<Task, 'phase' | 'flow'>, ciGate: boolean): boolean {
  return phase === 'CI_PENDING' ? !ciGate && flow.mode === null : phase !== 'COMPLETED' && phase !== 'BLOCKED';
}

/** The records that count as writeback: made since the task was created or reinstated, and not reinstating. */
export function writebackRecords(task: Task): readonly ThoughtRecordRef[] {
  return task.records.filter((record) => record.seq > task.since && !record.reinstates);
}

/** The ids that missions use; the task id in the form T042. */
export function missionIds(task: Task): { readonly taskId: string; readonly epicId: string; readonly prdId: string } {
  const taskId = /^T[0-9]+$/.test(task.id) ? task.id : `T${String(task.n).padStart(3, '0')}`;
  return { taskId, epicId: task.epicId ?? 'E000', prdId: task.prdId ?? 'PRD-000' };
}

/** Leaving one of these phases forwards is an approval of the change. */
export const JUDGED_PHASES: ReadonlySet<Phase> = new Set(['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE']);

/**
 * Reports whether a move is an approval. A task that goes straight from IMPLEMENTATION to COMPLETED never waited for
 * approval.
 */
export function isApproval(from: Phase, to: Phase | null): boolean {
  if (to === 'READY_FOR_MERGE') return from !== to;
  return to === 'COMPLETED' && JUDGED_PHASES.has(from);
}

/**
 * Reports whether sessions use the exit protocol: always in the built-in workflow, whose roles send an exit signal;
 * otherwise the project's flag decides.
 */
export function usesExitProtocol(task: Pick<Task, 'flow'> | undefined, flag: boolean): boolean {
  return flag || (task !== undefined && task.flow.mode !== null);
}
