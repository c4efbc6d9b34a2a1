import { isTaskId, type TaskNumbers } from '../ledger/format/task-numbers.ts';
import { agentSessionCompleted, CONSTRAINTS } from '../protocol/agent-session-completed.ts';
import { PHASES } from '../protocol/phase.ts';
import { resultShape } from '../protocol/result.ts';
import { REQUIREMENTS } from '../protocol/run-plan.ts';
import { whole, list, nullable, choice, object, optional, text } from '../protocol/shape/build-shape.ts';
import type { FieldsOf, ValueOf } from '../protocol/shape/shape.ts';
import { thoughtRecordShape } from '../protocol/thought-record.ts';
import { FLEET_EVENTS } from './fleet/fleet-event.ts';
import { claimRef, RUN_EVENTS } from './runs/run-event.ts';
import { handoffRef, WORKFLOW_EVENTS } from './workflow/workflow-event.ts';

/**
 * Why a task changed its phase. Rules decide only by this value: the `reason` beside it may quote an agent and is for
 * display. Only Baton's own code chooses a cause; no agent's message contains one.
 */
const MOVE_CAUSES = [
  'exit-signal',
  'handoff',
  /** `task_update`: the holder or an operator reported that the task is blocked. */
  'updated',
  /** `task_update`, `task_complete` or an operator: the work is done. */
  'completed',
  /** An operator completed the task without a thought record. */
  'waived',
  'closed',
  'review-began',
  /** The reviewer's claim ended without a verdict. */
  'review-ended',
  /** The agent or pipeline that held the claim ended without an exit signal. */
  'run-ended',
  /** A message that was kept in the outbox while the claim lived is judged in the phase of that time. */
  'claim-restored',
  'cancelled',
  'unblocked',
  'reinstated',
  'imported',
  'workflow-started',
  'decision',
  /** A recoverable error is retried after its wait. */
  'retried',
  /** The CI gate: checks passed, failed, or are not required. */
  'checks',
  'nothing-to-check',
  /** The pull request is open, and there is no CI gate. */
  'published',
  /** The pull request cannot be opened or brought up to date. */
  'publish-failed',
  'merged',
  /** The merge conflicts, or its checks failed: the work goes to the fixer. */
  'merge-failed',
  /** The merge cannot be attempted. */
  'merge-refused',
  /** The entry predates typed causes, and its text contains no cause that can be trusted. */
  'unrecorded',
] as const;

export type MoveCause = (typeof MOVE_CAUSES)[number];

const githubIssueRef = object({
  /** `owner/name`, preceded by the host unless that is github.com. */
  repository: text,
  number: whole,
});
export type GithubIssueRef = ValueOf<typeof githubIssueRef>;

/** What the author of a task determines. */
const taskFields = {
  task_id: text,
  title: text,
  after: list(text),
  priority: whole,
  phase: choice(PHASES),
  next_role: nullable(text),
  prompt_file: nullable(text),
  epic_id: nullable(text),
  prd_id: nullable(text),
  /** The work to do, in its author's words. */
  description: optional(text),
};

const claimEnd = { ...claimRef.fields, reason: nullable(text) };

/**
 * Every type of entry that the state folds, with the fields of its data. The table defines the TypeScript types, the
 * list of folded types, the check on reading (`recorded-event.ts`) and the list in `docs/entries.md`. Fields are
 * snake_case as in the ledger; the meaning of a recorded entry never changes.
 */
export const EVENTS = {
  TaskCreated: {
    ...taskFields,
    /** Serial number in the project, starting at 1. */
    n: whole,
    /** The issue at GitHub that the task was imported from. */
    github_issue: optional(githubIssueRef),
    /** The session that made the task; its task is the parent. Absent if a person or Baton made it. */
    made_by: optional(claimRef),
    /** The person who accepted the proposal of that session. */
    accepted_by: optional(text),
  },
  /** A session asked for a task beyond its limits. `root`: the task of a person from which it descends. */
  TaskProposed: { ...taskFields, root: text, over: choice(['number', 'depth']), made_by: claimRef },
  /** A person answered, or the tasks are no longer wanted. */
  ProposalsSettled: { root: text, accepted: list(text), dropped: list(text) },
  DependencyAdded: { task_id: text, after: text },
  TaskClaimed: {
    ...claimRef.fields,
    holder: text,
    /**
     * The principal responsible for the work, from the token that made the claim (see `caller.ts`). `holder` is only a
     * label.
     */
    principal: text,
    role: nullable(text),
    /** The messages that the session must send before it may complete. */
    requires: list(choice(REQUIREMENTS)),
    /** The process whose exit ends the session, if known: see `api/processes.ts`. */
    process: optional(text),
    /** The host on which the session works; absent on SQLite, and in entries from before the fleet was founded. */
    host: optional(text),
  },
  /**
   * Rules decide by `cause`; `reason` is for people and may quote an agent. `upcast` adds the cause to entries without
   * one.
   */
  PhaseMoved: {
    task_id: text,
    from: choice(PHASES),
    to: choice(PHASES),
    next_role: nullable(text),
    cause: choice(MOVE_CAUSES),
    reason: text,
  },
  ClaimCompleted: claimEnd,
  ClaimBlocked: claimEnd,
  ClaimFailed: claimEnd,
  ClaimReleased: claimEnd,
  ClaimExpired: claimEnd,
  ClaimRevoked: claimEnd,
  /**
   * A message that was kept in the outbox while the claim lived arrived after the claim had lapsed, and ends the claim
   * as it would have before.
   */
  ClaimRestored: claimRef.fields,
  TaskProgressed: { task_id: text, epoch: nullable(whole), progress: nullable(whole), notes: nullable(text) },
  /** `epoch`: the claim under which, or for which, the record was made; null if there was none. */
  ThoughtRecorded: { record_id: text, task_id: text, epoch: nullable(whole), record: thoughtRecordShape },
  /** The work must be done again: earlier records no longer count as writeback. */
  TaskReinstated: {
    task_id: text,
    reason: text,
    /** The finding that allowed it, and the principal; absent if an operator or the holder of a claim did it. */
    decision_id: optional(text),
    by: optional(text),
  },
  /** `last`: the number of this entry within the task. A task proof ends with it. */
  TaskCounted: { task_id: text, last: whole },
  WritebackWaived: { task_id: text, reason: text },
  /** An operator waives a constraint for the sessions of one task. */
  ConstraintWaived: { task_id: text, constraint: choice(CONSTRAINTS), reason: text },
  /** An operator moves a workflow from the runbook with which it was started to the one in force. */
  TaskRulesMoved: { task_id: text, runbook: text, previous: text },
  /** An operator approves their own change, at this commit. */
  SelfApproved: { task_id: text, by: text, head: text, reason: text },
  /** A person's note for the agent that works on the task, or for the next session. */
  NoteAdded: {
    task_id: text,
    text,
    /** The file and the line that it is about, at the commit `head`. */
    path: optional(text),
    line: optional(whole),
    head: optional(text),
  },
  AgentSessionCompleted: agentSessionCompleted,
  /**
   * The session's evidence for the phase, in its own words. Long texts and lists are cut; the blob has the whole
   * bundle.
   */
  EvidenceRecorded: {
    ...claimRef.fields,
    /** The file in the session's workspace. */
    ref: text,
    blob: text,
    head_sha: text,
    commands: list(object({ run: text, exit_code: whole })),
    decisions: list(text),
    failed_approaches: list(text),
    next_step: nullable(text),
    /** The number of list items that are only in the blob. */
    left_out: optional(whole),
  },
  ResultSubmitted: { ...claimRef.fields, result: resultShape },
  /** Sent under a claim, and delivered when the session ends. */
  HandoffHeld: handoffRef.fields,
  HandoffDelivered: handoffRef.fields,
  HandoffDropped: { ...handoffRef.fields, reason: text },
  AuditSessionStarted: { audit_id: text, task_id: nullable(text) },
  /** Written by the ledger itself; settles the request for a seal. */
  LedgerSealed: { size: whole, root: text, checkpoint: text },
  AuditChainVerified: { audit_id: text, size: whole, root: text },
  /** The runbook that gates, merges and workers follow from now on. */
  RunbookAdopted: {
    /** The hash of the canonical content, which is stored as a blob. */
    sha256: text,
    runbook_blob: text,
    /** The runbook in force before; null for the first. */
    previous: nullable(text),
    /** The commit of the main branch with this content; null for a working file. */
    commit: nullable(text),
    /** The content that the main branch had at the time; null if it had none. */
    committed: nullable(text),
    by: text,
  },
  /** An operator accepted that nothing is checked before a merge, while the runbook does not set `ci.required`. */
  ChecksDeclined: { by: text },
  /** The page with this key may act for the operator. `public_key`: the 32 bytes of the Ed25519 key in base64url. */
  PageKeyAdded: { key_id: text, name: text, public_key: text, origin: text },
  PageKeyRevoked: { key_id: text, reason: text },
  ...RUN_EVENTS,
  ...WORKFLOW_EVENTS,
  ...FLEET_EVENTS,
} as const;

export type EventType = keyof typeof EVENTS;

/**
 * The tasks that an entry is about, for the types that name them elsewhere than in `task_id`. The number of the entry
 * within each of them is recorded with it (see `tasks/task-numbers.ts`), so at most `LEDGER_LIMITS.tasksPerEntry`.
 */
const ABOUT_TASKS: { readonly [T in EventType]?: (data: Events[T]) => readonly (string | undefined)[] } = {
  AgentRequested: ({ task }) => [task?.task_id],
  PipelineStarted: ({ task }) => [task?.task_id],
  MainMoved: ({ carried = [] }) => carried,
};

export function tasksAbout<T extends EventType>({ type, data }: EventOf<T>): readonly string[] {
  const named = ABOUT_TASKS[type]?.(data) ?? ['task_id' in data ? data.task_id : undefined];
  return [...new Set(named)].filter(isTaskId);
}

export type Events = {
  readonly [T in EventType]: FieldsOf<(typeof EVENTS)[T]>;
};

export type Event = { [T in EventType]: EventOf<T> }[EventType];

export interface EventOf<T extends EventType> {
  readonly type: T;
  readonly data: Events[T];
}

/** A recorded entry, with the part of its envelope that folding needs. */
export type RecordedEvent = Event & {
  readonly seq: number;
  readonly at: string;
  /** The actor without a page: see `splitActor`. */
  readonly actor: string;
  readonly via?: string;
  /** Of an entry that this daemon decides: its number within each of its tasks. `foldEntry` reads those of others. */
  readonly tasks?: TaskNumbers;
  /** The keyed command that this entry and the others of its commit settle. */
  readonly settles?: SettledRequest;
};

/** The answer to a keyed command: a client that received no response repeats the command with the same key. */
export interface SettledRequest {
  readonly key: string;
  readonly answer: unknown;
}

export function event<T extends EventType>(type: T, data: Events[T]): EventOf<T> {
  return { type, data };
}

/** The six ways in which a claim ends, and the entry for each. */
export const CLAIM_ENDS = {
  completed: 'ClaimCompleted',
  blocked: 'ClaimBlocked',
  failed: 'ClaimFailed',
  released: 'ClaimReleased',
  expired: 'ClaimExpired',
  revoked: 'ClaimRevoked',
} as const satisfies Record<string, EventType>;

export type HowClaimEnded = keyof typeof CLAIM_ENDS;
export type ClaimEndType = (typeof CLAIM_ENDS)[HowClaimEnded];

export const HOW_CLAIM_ENDED: ReadonlyMap<EventType, HowClaimEnded> = new Map(
  Object.entries(CLAIM_ENDS).map(([how, type]) => [type, how as HowClaimEnded]), // oxlint-disable-line typescript/no-unsafe-type-assertion
);
export type { Requirement } from '../protocol/run-plan.ts';
