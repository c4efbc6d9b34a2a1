import type { Entry } from '../ledger/entry.ts';
import type { Draft } from '../ledger/draft.ts';
import type { JsonObject } from '../ledger/canonical-json.ts';
import type { Event, Recorded, Settles } from './event.ts';
import { CLAIM_ENDS } from './event.ts';
import { upcast } from './upcast.ts';

/** The types this room folds. Entries of other types (keys) pass by. */
const FOLDED: ReadonlySet<string> = new Set<Event['type']>([
  'TaskCreated',
  'DependencyAdded',
  'TaskClaimed',
  'PhaseMoved',
  ...Object.values(CLAIM_ENDS),
  'ClaimRestored',
  'TaskProgressed',
  'ThoughtRecorded',
  'TaskReinstated',
  'WritebackWaived',
  'SelfApproved',
  'AgentSessionCompleted',
  'ResultSubmitted',
  'HandoffHeld',
  'HandoffDelivered',
  'HandoffDropped',
  'AuditSessionStarted',
  'AuditChainVerified',
  'RunbookAdopted',
  'ChecksDeclined',
  'WorkersConfigured',
  'PipelineStarted',
  'StepStarted',
  'StepWaiting',
  'StepResumed',
  'StepFinished',
  'PipelineFinished',
  'PipelineCancelRequested',
  'WorkspaceRequested',
  'WorkspacePrepared',
  'WorkspaceFailed',
  'AgentRequested',
  'AgentResumeRequested',
  'AgentStarted',
  'AgentStartFailed',
  'AgentSignalled',
  'AgentIdle',
  'AgentStop',
  'AgentBlocked',
  'AgentSilent',
  'AgentHeard',
  'AgentPrompted',
  'AgentErrored',
  'AgentExited',
  'AgentParked',
  'AgentUnparked',
  'AgentEnded',
  'AgentKillRequested',
  'AgentRestartRequested',
  'AgentAttachRequested',
  'AgentAttached',
  'AgentDetached',
  'MessageRequested',
  'MessageDelivered',
  'HandlerTried',
  'CommandRequested',
  'CommandFinished',
  'CommandCancelled',
  'TimerSet',
  'TimerFired',
  'TimerCancelled',
  'DecisionOpened',
  'DecisionExtended',
  'DecisionResolved',
  'DecisionWithdrawn',
  'BudgetWarned',
  'BudgetUnpriced',
  'BudgetReached',
  'BudgetRaised',
  'NotificationRequested',
  'NotificationSent',
  'BranchNamed',
  'SessionPrepared',
  'SessionMeasured',
  'SessionUsed',
  'ChecksRequested',
  'CheckFinished',
  'ChecksFinished',
  'PullRequestRequested',
  'PullRequestPublished',
  'PullRequestFailed',
  'PullRequestCloseRequested',
  'PullRequestClosed',
  'PlaceClearRequested',
  'PlaceCleared',
  'MergeRequested',
  'MergePrepared',
  'MergeFinished',
  'ProtectedMeasured',
  'MergeHeld',
  'MergeAgreed',
  'MainMoved',
  'TaskHeld',
  'TaskFreed',
  'WorkflowStarted',
  'WebhookReceived',
  'LedgerSealed',
]);

/** An entry of the ledger as something to fold; undefined where it is about neither tasks nor runs. */
export function recordedOf(entry: Entry): Recorded | undefined {
  if (!FOLDED.has(entry.type)) return undefined;
  const { settles, ...data } = upcast(entry);
  const { type, seq, at, actor } = entry;
  // The ledger holds only what `draftOf` wrote: the hash vouches for it.
  return { type, data, seq, at, actor, ...(settles === undefined ? {} : { settles }) } as unknown as Recorded; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** An event as it is written. The command it settles travels inside its data, under the hash. */
export function draftOf(
  event: Event,
  actor: string,
  settles: Settles | undefined,
  cause?: NonNullable<Draft['cause']>,
): Draft {
  const data = { ...event.data, ...(settles === undefined ? {} : { settles }) };
  const because = cause === undefined ? {} : { cause };
  return { actor, type: event.type, ...because, data: data as unknown as JsonObject }; // oxlint-disable-line typescript/no-unsafe-type-assertion
}
