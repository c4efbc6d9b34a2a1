import { type AuditedEntry, numberOf, partOf, textOf, wordOf } from './entry.ts';

interface LiveClaim {
  readonly epoch: number;
  readonly session: string;
  readonly principal: string;
  readonly role: string;
}

/** What the entries tell about one task. */
export interface AuditedTask {
  readonly id: string;
  phase: string;
  nextRole: string;
  epoch: number;
  live: LiveClaim | null;
  lapsed: LiveClaim | null;
  isWorkflow: boolean;
  isCancelled: boolean;
  isHeld: boolean;
  takenBy: string;
  /** The commit at the end of the last session, as recorded. */
  head: string;
  /** The same, as Baton has measured it. */
  measured: string;
  /** The commit at the end of the last session of an agent; empty if anything else has moved the branch since. */
  ofSession: string;
  /** Commits that records name since the work began. */
  recorded: Set<string>;
  /** Since when the task is in its phase, and who moved it. */
  movedAt: number;
  /** A person moved it, or the answer of one. */
  isByPerson: boolean;
  cause: string;
  approval: { readonly by: string; readonly head: string } | null;
  selfApproval: { readonly by: string; readonly head: string } | null;
  /** The last decision of a person about this task, and the last change of it. */
  personAt: number;
  after: string[];
  mergeHead: string;
  pushed: string;
  /** The epoch of the newest session that Baton prepared and measures; -1 if there was none. */
  preparedEpoch: number;
  /** The epoch of the newest session that reported an error; -1 if there was none. */
  errorEpoch: number;
  /** A host was lost with the claim, so the next session begins with what was pushed. */
  hasExpired: boolean;
}

export type TaskReport = (invariant: 'claim' | 'done' | 'base' | 'cause', text: string) => void;

/** Follows one entry about a task, and reports broken claims. */
export function followTask(task: AuditedTask, entry: AuditedEntry, report: TaskReport): void {
  const { type, seq, actor } = entry;
  const epoch = numberOf(entry, 'epoch');
  const writer = WRITES.has(type) && actor.startsWith('session:') ? actor.slice('session:'.length) : undefined;
  if (writer !== undefined && writer !== task.live?.session && writer !== task.lapsed?.session)
    report('claim', `${task.id}: session ${writer} writes after it has ended`);
  switch (type) {
    case 'TaskClaimed':
      if (task.live !== null) report('claim', `${task.id} is claimed twice`);
      if (epoch <= task.epoch) report('claim', `${task.id}: the epoch does not grow`);
      task.epoch = epoch;
      task.lapsed = null;
      task.takenBy = '';
      task.live = {
        epoch,
        session: textOf(entry, 'session_id'),
        principal: textOf(entry, 'principal'),
        role: textOf(entry, 'role'),
      };
      return;
    case 'ClaimRestored':
      if (task.live !== null || task.lapsed?.epoch !== epoch || epoch !== task.epoch)
        report('claim', `${task.id}: a claim is restored that did not lapse last`);
      task.live = task.lapsed;
      return;
    case 'ClaimCompleted':
    case 'ClaimBlocked':
    case 'ClaimFailed':
    case 'ClaimReleased':
    case 'ClaimExpired':
    case 'ClaimRevoked':
      if (task.live?.epoch !== epoch) report('claim', `${task.id}: the claim of epoch ${epoch} had ended before`);
      task.hasExpired ||= type === 'ClaimExpired';
      task.lapsed = task.live;
      task.live = null;
      return;
    case 'PhaseMoved':
      if (textOf(entry, 'cause') === 'retried' && task.errorEpoch !== task.epoch)
        report('cause', `${task.id} is tried again, and its last session reported no error`);
      if (textOf(entry, 'cause') === 'checks' && task.live !== null)
        report('claim', `${task.id} moves while session ${task.live.session} has it`);
      if (textOf(entry, 'from') !== task.phase) report('claim', `${task.id} was ${task.phase}`);
      moveTask(task, entry);
      return;
    case 'ThoughtRecorded': {
      const record = partOf(entry, 'record');
      if (wordOf(record, 'status') === 'todo') return;
      const sha = wordOf(record, 'commit_sha').toLowerCase();
      task.recorded.add(sha);
      // Baton measures the head of its own sessions. For other work only a record names it.
      if (task.preparedEpoch !== numberOf(entry, 'epoch') && isOfWork(task, numberOf(entry, 'epoch'))) task.head = sha;
      return;
    }
    case 'HandoffDelivered':
      if (textOf(entry, 'to') === 'orchestrator') task.errorEpoch = task.epoch;
      return;
    case 'TaskReinstated':
      task.recorded.clear();
      task.isHeld = false;
      if (actor.startsWith('operator:')) task.personAt = seq;
      return;
    case 'SessionMeasured':
      task.head = textOf(entry, 'head');
      task.measured = task.head;
      task.ofSession = task.head;
      return;
    case 'SelfApproved':
      task.selfApproval = { by: textOf(entry, 'by'), head: textOf(entry, 'head') };
      return;
    case 'BranchMoved':
      task.head = textOf(entry, 'new');
      task.measured = task.head;
      task.ofSession = '';
      return;
    case 'WorkPushed':
      task.pushed = textOf(entry, 'sha');
      return;
    case 'SessionPrepared':
      task.preparedEpoch = epoch;
      return;
    case 'WorkflowStarted':
      task.isWorkflow = true;
      return;
    case 'TaskHeld':
      task.isHeld = true;
      return;
    case 'TaskFreed':
      task.isHeld = false;
      return;
    case 'TaskAssigned':
      task.takenBy = textOf(entry, 'person');
      return;
    case 'DependencyAdded':
      task.after.push(textOf(entry, 'after'));
      return;
    case 'MergeRequested':
      task.mergeHead = textOf(entry, 'head');
      return;
    default:
  }
}

/** From review on, and while the task waits, a record is no new work, unless it is a late one of the last session. */
function isOfWork({ phase, lapsed }: AuditedTask, epoch: number): boolean {
  if (phase === 'BLOCKED') return lapsed?.epoch === epoch;
  return !['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE', 'COMPLETED'].includes(phase);
}

/** What a session says about its task while it has the claim, or when it lost it just before. */
const WRITES: ReadonlySet<string> = new Set(['ResultSubmitted', 'ThoughtRecorded', 'HandoffHeld', 'MergeRequested']);

function moveTask(task: AuditedTask, entry: AuditedEntry): void {
  const { seq, actor } = entry;
  const to = textOf(entry, 'to');
  if (to === 'READY_FOR_MERGE' && task.phase !== 'BLOCKED' && task.phase !== to)
    task.approval = { by: approverOf(task, actor), head: task.head };
  if (to === 'IMPLEMENTATION' || to === 'CI_PENDING') task.approval = null;
  if (to !== task.phase) {
    task.movedAt = seq;
    task.isByPerson = actor.startsWith('operator:') || textOf(entry, 'cause') === 'decision';
  }
  task.cause = textOf(entry, 'cause');
  task.isCancelled = task.cause === 'cancelled' ? true : to === 'BLOCKED' ? task.isCancelled : false;
  task.phase = to;
  task.nextRole = textOf(entry, 'next_role');
}

/** The principal behind the actor of an approval: of the session that has or had the last claim. */
function approverOf({ live, lapsed }: AuditedTask, actor: string): string {
  const claim = [live, lapsed].find((each) => actor === `session:${each?.session ?? ''}`);
  return claim?.principal ?? actor;
}

export function newTask(entry: AuditedEntry): AuditedTask {
  const after = entry.data['after'];
  return {
    id: textOf(entry, 'task_id'),
    phase: textOf(entry, 'phase'),
    nextRole: textOf(entry, 'next_role'),
    epoch: 0,
    live: null,
    lapsed: null,
    isWorkflow: false,
    isCancelled: false,
    isHeld: false,
    takenBy: '',
    head: '',
    measured: '',
    ofSession: '',
    recorded: new Set(),
    movedAt: entry.seq,
    isByPerson: false,
    cause: '',
    approval: null,
    selfApproval: null,
    personAt: 0,
    after: Array.isArray(after) ? after.map(String) : [],
    mergeHead: '',
    pushed: '',
    preparedEpoch: -1,
    errorEpoch: -1,
    hasExpired: false,
  };
}
