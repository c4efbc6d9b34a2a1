import type { JsonObject } from '../ledger/format/canonical-json.ts';
import type { Draft } from '../ledger/format/draft.ts';
import type { Entry } from '../ledger/format/entry.ts';
import type { ViolationKind } from '../protocol/agent-session-completed.ts';
import type { Event, EventType, MoveCause, RecordedEvent, SettledRequest } from './event.ts';

/**
 * The types this room folds. Entries of other types (keys) pass by. A type that is missing here would compile, work until the next restart and
 * then be missing from the state, so the compiler demands every one.
 */
const FOLDED_TYPES: Readonly<Record<EventType, true>> = {
  TaskCreated: true,
  DependencyAdded: true,
  TaskClaimed: true,
  PhaseMoved: true,
  ClaimCompleted: true,
  ClaimBlocked: true,
  ClaimFailed: true,
  ClaimReleased: true,
  ClaimExpired: true,
  ClaimRevoked: true,
  ClaimRestored: true,
  TaskProgressed: true,
  ThoughtRecorded: true,
  TaskReinstated: true,
  WritebackWaived: true,
  SelfApproved: true,
  AgentSessionCompleted: true,
  ResultSubmitted: true,
  HandoffHeld: true,
  HandoffDelivered: true,
  HandoffDropped: true,
  AuditSessionStarted: true,
  AuditChainVerified: true,
  RunbookAdopted: true,
  ChecksDeclined: true,
  WorkersConfigured: true,
  PipelineStarted: true,
  StepStarted: true,
  StepWaiting: true,
  StepResumed: true,
  StepFinished: true,
  PipelineFinished: true,
  PipelineCancelRequested: true,
  WorkspaceRequested: true,
  WorkspacePrepared: true,
  WorkspaceFailed: true,
  AgentRequested: true,
  AgentResumeRequested: true,
  AgentStarted: true,
  AgentStartFailed: true,
  AgentSignalled: true,
  AgentIdle: true,
  AgentStop: true,
  AgentBlocked: true,
  AgentSilent: true,
  AgentHeard: true,
  AgentPrompted: true,
  AgentErrored: true,
  AgentExited: true,
  AgentParked: true,
  AgentUnparked: true,
  AgentEnded: true,
  AgentKillRequested: true,
  AgentRestartRequested: true,
  AgentAttachRequested: true,
  AgentAttached: true,
  AgentDetached: true,
  MessageRequested: true,
  MessageDelivered: true,
  HandlerTried: true,
  CommandRequested: true,
  CommandFinished: true,
  CommandCancelled: true,
  TimerSet: true,
  TimerFired: true,
  TimerCancelled: true,
  DecisionOpened: true,
  DecisionExtended: true,
  DecisionResolved: true,
  DecisionWithdrawn: true,
  BudgetWarned: true,
  BudgetUnpriced: true,
  BudgetReached: true,
  BudgetRaised: true,
  NotificationRequested: true,
  NotificationSent: true,
  BranchNamed: true,
  SessionPrepared: true,
  SessionMeasured: true,
  SessionUsed: true,
  ChecksRequested: true,
  CheckFinished: true,
  ChecksFinished: true,
  PullRequestRequested: true,
  PullRequestPublished: true,
  PullRequestFailed: true,
  PullRequestCloseRequested: true,
  PullRequestClosed: true,
  PlaceClearRequested: true,
  PlaceCleared: true,
  MergeRequested: true,
  MergePrepared: true,
  MergeFinished: true,
  ProtectedMeasured: true,
  MergeHeld: true,
  MergeAgreed: true,
  MainMoved: true,
  TaskHeld: true,
  TaskFreed: true,
  WorkflowStarted: true,
  WebhookReceived: true,
  LedgerSealed: true,
};

/** An entry of the ledger as something to fold; undefined where it is about neither tasks nor runs. */
export function toRecordedEvent(entry: Entry): RecordedEvent | undefined {
  if (!Object.hasOwn(FOLDED_TYPES, entry.type)) return undefined;
  const { settles, ...data } = upcast(entry);
  const { type, seq, at, actor } = entry;
  // The ledger holds only what `draftOf` wrote: the hash vouches for it.
  return { type, data, seq, at, actor, ...(settles === undefined ? {} : { settles }) } as unknown as RecordedEvent; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** An event as it is written. The command it settles travels inside its data, under the hash. */
export function toLedgerDraft(
  event: Event,
  actor: string,
  settles: SettledRequest | undefined,
  cause?: NonNullable<Draft['cause']>,
): Draft {
  const data = { ...event.data, ...(settles === undefined ? {} : { settles }) };
  const because = cause === undefined ? {} : { cause };
  return { actor, type: event.type, ...because, data: data as unknown as JsonObject }; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/**
 * Entries written before causes were typed, read as entries of today. This table is the only place that derives meaning from text, and
 * it applies only to an entry that has no typed field. It checks who wrote the entry, because sessions chose the text of theirs.
 */
const CAUSE_PATTERNS: readonly { readonly actor: string; readonly reason: string; readonly cause: MoveCause }[] = [
  { actor: 'operator:', reason: 'cancelled: ', cause: 'cancelled' },
  { actor: 'operator:', reason: 'waived: ', cause: 'waived' },
  { actor: 'system:', reason: 'decision: ', cause: 'decision' },
  { actor: 'system:', reason: 'merge refused: ', cause: 'merge-refused' },
  { actor: 'system:', reason: 'merge failed: ', cause: 'merge-failed' },
  { actor: 'system:', reason: 'merged as ', cause: 'merged' },
  { actor: 'system:', reason: 'check failed: ', cause: 'checks' },
  { actor: 'system:', reason: 'all required checks passed', cause: 'checks' },
  { actor: 'system:', reason: 'no pull request: ', cause: 'publish-failed' },
];

/** Baton measured these and wrote every one of them with the constraint's name first. */
const VIOLATIONS: readonly ViolationKind[] = ['max_files', 'no_git_commit', 'no_new_deps', 'files_modified', 'timeout'];

/** The data of an entry, with the typed fields that entries of its type have today. */
export function upcast({ type, actor, data }: Pick<Entry, 'type' | 'actor' | 'data'>): JsonObject {
  if (type === 'PhaseMoved' && data['cause'] === undefined)
    return { ...data, cause: deriveCause(actor, data['reason']) };
  if (type === 'SessionMeasured' && data['broken'] === undefined)
    return { ...data, broken: deriveViolations(data['violations']) };
  // Claims were kept apart by the name that they showed: see `isOneOf`.
  if (type === 'TaskClaimed' && data['principal'] === undefined) return { ...data, principal: data['holder'] ?? '' };
  return data;
}

function deriveCause(actor: string, reason: unknown): MoveCause {
  const text = typeof reason === 'string' ? reason : '';
  const known = CAUSE_PATTERNS.find((each) => actor.startsWith(each.actor) && text.startsWith(each.reason));
  return known?.cause ?? 'unrecorded';
}

function deriveViolations(violations: unknown): ViolationKind[] {
  const texts = Array.isArray(violations) ? violations.map(String) : [];
  return VIOLATIONS.filter((kind) => texts.some((text) => text.startsWith(`${kind}: `)));
}
