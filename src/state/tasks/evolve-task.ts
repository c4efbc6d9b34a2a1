import type { Phase } from '../../protocol/phase.ts';
import {
  type ClaimEndType,
  type Event,
  type EventOf,
  HOW_CLAIM_ENDED,
  type HowClaimEnded,
  type MoveCause,
  type RecordedEvent,
} from '../event.ts';
import { evolveTaskWork } from '../fleet/work-place.ts';
import { evolveFlow } from '../workflow/evolve-flow.ts';
import { NO_FLOW } from '../workflow/flow.ts';
import { type Claim, isCancelled, type Task } from './task.ts';

/** How many endings are kept per task; the ledger has all of them. */
const KEPT_ENDINGS = 20;
const KEPT_RECORDS = 100;

/** The envelope of an entry; a rehearsed entry has no actor. */
type Envelope = Pick<RecordedEvent, 'seq' | 'at'> & Partial<Pick<RecordedEvent, 'actor'>>;

export function createTask(
  { data, seq }: EventOf<'TaskCreated'> & Envelope,
  made: Pick<Task, 'author' | 'origin'>,
): Task {
  const { n, title, after, priority, phase } = data;
  const given = { n, title, after, priority, phase };
  return {
    id: data.task_id,
    ...given,
    promptFile: data.prompt_file,
    epicId: data.epic_id,
    prdId: data.prd_id,
    ...made,
    description: data.description ?? null,
    githubIssue: data.github_issue ?? null,
    firstPhase: phase,
    begun: false,
    blocked: null,
    nextRole: data.next_role,
    epoch: 0,
    claim: null,
    lapsed: null,
    endings: [],
    progress: null,
    notes: null,
    since: seq,
    records: [],
    latestRecord: null,
    flow: { ...NO_FLOW, movedAt: seq },
    work: null,
  };
}

export function evolveTask(task: Task, recorded: Event & Envelope): Task {
  const after = evolveWork(task, recorded);
  // The claim from before the entry shows which session the entry is about.
  const flow = evolveFlow(after.flow, recorded, task);
  const work = evolveTaskWork(task, recorded);
  return flow === after.flow && work === task.work ? after : { ...after, flow, work };
}

function evolveWork(task: Task, recorded: Event & Envelope): Task {
  switch (recorded.type) {
    case 'DependencyAdded':
      return { ...task, after: [...task.after, recorded.data.after] };
    case 'TaskClaimed':
      return claimed(task, recorded);
    case 'PhaseMoved':
      return evolvePhase(task, recorded);
    case 'ClaimCompleted':
    case 'ClaimBlocked':
    case 'ClaimFailed':
    case 'ClaimReleased':
    case 'ClaimExpired':
    case 'ClaimRevoked':
      return evolveClaimEnd(task, recorded);
    case 'TaskProgressed': {
      const { progress, notes } = recorded.data;
      return { ...task, progress: progress ?? task.progress, notes: notes ?? task.notes };
    }
    case 'ThoughtRecorded':
      return recordedThought(task, recorded);
    case 'WorkflowStarted':
      // Every workflow begins in DRAFT, even one made from an existing task.
      return { ...task, firstPhase: 'DRAFT' };
    case 'TaskReinstated':
      // The work restarts: earlier records no longer count, and the task is `todo` again.
      return { ...task, since: recorded.seq, firstPhase: 'IMPLEMENTATION', begun: false, progress: null, lapsed: null };
    case 'ClaimRestored':
      return task.lapsed === null ? task : { ...task, claim: task.lapsed.claim, lapsed: null };
    case 'TaskHeld':
    case 'MergeRequested':
      return task.lapsed === null ? task : { ...task, lapsed: null };
    case 'ResultSubmitted':
      return withClaim(task, { resultStatus: recorded.data.result.status });
    case 'HandoffHeld':
      return withClaim(task, { handoff: recorded.data });
    case 'HandoffDelivered':
    case 'HandoffDropped': {
      // An operator's handoff does not replace the holder's held handoff.
      const handoff = task.claim?.handoff;
      if (handoff?.handoff_id !== recorded.data.handoff_id) return task;
      return withClaim(task, { handoff: null, ...(recorded.type === 'HandoffDropped' ? { dropped: handoff } : {}) });
    }
    default:
      return task;
  }
}

function claimed(task: Task, { data, at }: EventOf<'TaskClaimed'> & Envelope): Task {
  const { epoch, session_id: sessionId, holder, principal, role, requires, process = null, host = null } = data;
  const claimedBy = { epoch, sessionId, holder, principal, role, requires, process, host };
  const claim: Claim = { ...claimedBy, at, from: task.phase, resultStatus: null, handoff: null };
  return { ...task, epoch, claim, lapsed: null };
}

function evolvePhase(task: Task, { data }: EventOf<'PhaseMoved'>): Task {
  const { from, to, cause, reason } = data;
  // A task that is blocked again returns to the phase before the first block; a cancelled task stays cancelled, with
  // its reason.
  const cancelled = cause === 'cancelled' ? { isCancelled: true as const } : {};
  const after = isCancelled(task) ? task.blocked : { from: task.blocked?.from ?? from, reason, ...cancelled };
  const blocked = to === 'BLOCKED' ? after : null;
  const lapsed = LEFT_BY_LAPSE.has(cause) ? task.lapsed : null;
  return { ...task, phase: to, nextRole: data.next_role, blocked, lapsed, begun: task.begun || isProgress(task, to) };
}

/** A move to BLOCKED is not progress. Neither is a move under a live claim, which is the start of a review. */
function isProgress({ firstPhase, claim }: Task, to: Phase): boolean {
  return claim === null && to !== firstPhase && to !== 'BLOCKED';
}

/** Moves that belong to the end of a claim. After any other move a lapsed claim cannot be restored. */
const LEFT_BY_LAPSE: ReadonlySet<MoveCause> = new Set(['run-ended', 'review-ended', 'claim-restored']);

function evolveClaimEnd(
  task: Task,
  { type, data, at, actor }: { [T in ClaimEndType]: EventOf<T> }[ClaimEndType] & Envelope,
): Task {
  const how = HOW_CLAIM_ENDED.get(type) ?? 'revoked';
  const { claim, phase, nextRole } = task;
  const lapsed =
    claim !== null && isLapse(how, actor) ? { claim: withDroppedHandoff(claim), phase, nextRole, at } : null;
  const { epoch, session_id: sessionId, reason } = data;
  const { holder, principal } = claim ?? { holder: '', principal: '' };
  const ending = { epoch, sessionId, holder, principal, how, reason, at };
  return { ...task, claim: null, lapsed, endings: [...task.endings, ending].slice(-KEPT_ENDINGS) };
}

/**
 * Reports whether the lease expired or the engine saw the process exit. A claim that its holder or a person ended stays
 * ended.
 */
function isLapse(how: HowClaimEnded, actor: string | undefined): boolean {
  if (how === 'expired') return true;
  return (how === 'failed' || how === 'released') && actor === 'system:engine';
}

/** A held handoff is dropped just before its claim ends; the lapsed claim gets it back. */
function withDroppedHandoff({ dropped, ...claim }: Claim): Claim {
  return { ...claim, handoff: claim.handoff ?? dropped ?? null };
}

function recordedThought(task: Task, { data, seq }: EventOf<'ThoughtRecorded'> & Envelope): Task {
  const { record_id: id, epoch, record } = data;
  const ref = { id, seq, epoch, commitSha: record.commit_sha, reinstates: record.status === 'todo' };
  return { ...task, records: [...task.records, ref].slice(-KEPT_RECORDS), latestRecord: record };
}

/** Changes the claim, even after it lapsed, because a message from the outbox belongs to it. */
function withClaim(task: Task, change: Partial<Claim>): Task {
  const { claim, lapsed } = task;
  if (claim !== null) return { ...task, claim: { ...claim, ...change } };
  return lapsed === null ? task : { ...task, lapsed: { ...lapsed, claim: { ...lapsed.claim, ...change } } };
}
