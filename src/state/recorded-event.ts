import type { Entry } from '../ledger/format/entry.ts';
import type { Draft } from '../ledger/format/draft.ts';
import type { JsonObject } from '../ledger/format/canonical-json.ts';
import type { Event, EventType, RecordedEvent, SettledRequest } from './event.ts';
import { upcast } from './upcast.ts';

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
