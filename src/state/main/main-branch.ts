import { isIsolated } from '../../protocol/sandbox.ts';
import type { EventOf, RecordedEvent } from '../event.ts';
import { type Effect, isStartEffect } from '../runs/effect.ts';
import type { WorkflowEvents } from '../workflow/workflow-event.ts';

export interface MainBranchState {
  readonly branch: string;
  readonly sha: string;
  readonly at: string;
  /**
   * A digest of the trusted upstream address, which may contain a credential: that of the first observation, or of a
   * person's approval. Null if there is none.
   */
  readonly upstream: string | null;
  /** The merge to which Baton is moving the branch, or has just moved it. */
  readonly prepared: { readonly mergeId: string; readonly sha: string } | null;
  /** The last accepted position while newer commits wait for a person; null if all commits are accepted. */
  readonly trusted: TrustedPosition | null;
  readonly decisionId: string | null;
  /**
   * The newest ended command that ran code of a branch without a sandbox; null if none has ended since the first
   * observation.
   */
  readonly lastCommand: EndedCommand | null;
}

export interface TrustedPosition {
  readonly branch: string;
  readonly sha: string;
  /** The upstream that a person's approval makes trusted; absent if it is unchanged. */
  readonly upstream?: string | null;
}

export type MainMoved = WorkflowEvents['MainMoved'];

/** A map, so that changes can be rolled back; a project has only one main branch. */
export type MainBranches = Map<string, MainBranchState>;
const MAIN_KEY = 'main';

export function findMain({ main }: { readonly main: MainBranches }): MainBranchState | undefined {
  return main.get(MAIN_KEY);
}

function setMain({ main }: { readonly main: MainBranches }, position: MainBranchState): void {
  main.set(MAIN_KEY, position);
}

/** The last accepted position of the main branch. Without `sha`, it is the current position. */
export interface AcceptedMain {
  readonly branch: string;
  readonly sha?: string;
}

/** Returns the last accepted position while newer commits wait for a person; undefined before the first observation. */
export function acceptedMain(state: { readonly main: MainBranches }): AcceptedMain | undefined {
  const main = findMain(state);
  if (main === undefined) return undefined;
  return main.trusted === null ? { branch: main.branch } : { branch: main.trusted.branch, sha: main.trusted.sha };
}

/**
 * Returns the newest accepted commit of main that has no commit of the task, so that a main that contains the task's
 * work does not hide it; null before the first observation.
 */
export function mainWithout(
  state: { readonly main: MainBranches },
  task: { readonly flow: { readonly mainBefore?: string } } | undefined,
): string | null {
  const main = findMain(state);
  return task?.flow.mainBefore ?? main?.trusted?.sha ?? main?.sha ?? null;
}

/** Reports whether the main branch has commits that no person accepted; merges wait meanwhile. */
export function isMainUnaccepted(state: { readonly main: MainBranches }): boolean {
  return (findMain(state)?.trusted ?? null) !== null;
}

/**
 * Reports whether a person must approve the move: history was rewritten, or an unsandboxed session could have made the
 * move and the upstream lacks the commits.
 */
function needsApproval({ old, fast_forward, on_upstream, sessions }: MainMoved): boolean {
  if (old === null) return false;
  return !fast_forward || (sessions.length > 0 && on_upstream !== true);
}

export function evolveMain(
  state: { readonly main: MainBranches },
  recorded: RecordedEvent,
  settled: readonly Effect[] = [],
): void {
  const before = findMain(state);
  const after =
    recorded.type === 'MainMoved' ? evolveMainMoved(before, recorded) : before && updateMain(before, recorded);
  const lastCommand = findEndedCommand(recorded, settled);
  if (after !== undefined && lastCommand !== undefined) setMain(state, { ...after, lastCommand });
  else if (after !== undefined && after !== before) setMain(state, after);
}

function evolveMainMoved(
  before: MainBranchState | undefined,
  { data, at }: EventOf<'MainMoved'> & Pick<RecordedEvent, 'at'>,
): MainBranchState {
  const { branch } = data;
  // An agent can change the remote's address, so after the first observation only a person's approval makes another
  // upstream trusted.
  const upstream = before === undefined || data.old === null ? data.upstream : before.upstream;
  const position = { branch, sha: data.new, at, upstream };
  if (before === undefined) return { ...position, prepared: null, trusted: null, decisionId: null, lastCommand: null };
  const { trusted, decisionId, lastCommand } = before;
  // If the branch has moved on from Baton's merge, the merge is settled.
  const prepared = data.old === before.prepared?.sha ? null : before.prepared;
  if (trusted?.branch === branch && trusted.sha === data.new)
    return { ...position, prepared, trusted: null, decisionId, lastCommand };
  const offered = data.upstream === upstream ? {} : { upstream: data.upstream };
  const last = { branch: before.branch, sha: data.old ?? before.sha, ...offered };
  return { ...position, prepared, trusted: trusted ?? (needsApproval(data) ? last : null), decisionId, lastCommand };
}

function updateMain(main: MainBranchState, recorded: RecordedEvent): MainBranchState {
  switch (recorded.type) {
    case 'MergePrepared': {
      const { branch, merge_id: mergeId, merge_sha: sha } = recorded.data;
      return branch === main.branch ? { ...main, prepared: { mergeId, sha } } : main;
    }
    case 'MergeFinished': {
      const { outcome, merge_id } = recorded.data;
      const { prepared } = main;
      if (prepared?.mergeId !== merge_id) return main;
      return { ...main, prepared: null, ...(outcome === 'merged' ? { sha: prepared.sha, at: recorded.at } : {}) };
    }
    case 'DecisionOpened':
      return recorded.data.branch === undefined ? main : { ...main, decisionId: recorded.data.decision_id };
    case 'DecisionResolved': {
      if (recorded.data.decision_id !== main.decisionId) return main;
      // After a denial, merges wait until the branch is back at its former position.
      if (recorded.data.action !== 'approve') return { ...main, decisionId: null };
      const { upstream = main.upstream } = main.trusted ?? {};
      return { ...main, decisionId: null, trusted: null, upstream };
    }
    case 'DecisionWithdrawn':
      return recorded.data.decision_id === main.decisionId ? { ...main, decisionId: null } : main;
    default:
      return main;
  }
}

interface EndedCommand extends SuspectSession {
  readonly at: string;
}

/**
 * The command of an effect that runs a branch's code: a check, gate or step. Without a sandbox it could move a branch,
 * like a session.
 */
export function findCommand(effect: Effect): SuspectSession | undefined {
  const { type, data } = effect;
  switch (type) {
    case 'ChecksRequested':
      return { id: data.checks_id, name: 'checks', task_id: data.task_id };
    case 'MergeRequested': {
      const runsCode = data.checks.some(({ run }) => run !== undefined);
      return runsCode ? { id: data.merge_id, name: 'checks of a merge', task_id: data.task_id } : undefined;
    }
    case 'CommandRequested': {
      const { subject, command_id: id } = data;
      const name = subject.kind === 'step' ? `step ${subject.step}` : `gate ${subject.handler}`;
      return { id, name, task_id: null };
    }
    default:
      return undefined;
  }
}

function findEndedCommand({ type, data, at }: RecordedEvent, settled: readonly Effect[]): EndedCommand | undefined {
  if (CHECKED_ENDS.has(type) && 'sandbox' in data && isIsolated(data.sandbox)) return undefined;
  const isGivenUp = type === 'AgentStartFailed' || type === 'AgentKillRequested';
  const ended = settled
    .map((effect) =>
      isGivenUp && isStartEffect(effect) ? findSetupCommand(effect.data.agent_id) : findCommand(effect),
    )
    .findLast((command) => command !== undefined);
  return ended && { ...ended, at };
}

/** Entries that record in which sandbox the command ran. */
const CHECKED_ENDS: ReadonlySet<string> = new Set(['CommandFinished', 'ChecksFinished', 'MergeFinished']);

/** The setup of a cancelled start. It has no session yet, but the setup of its workspace may have run. */
function findSetupCommand(agentId: string): SuspectSession {
  return { id: agentId, name: 'setup of a workspace', task_id: null };
}

/** A session or command that could have moved the main branch. */
export interface SuspectSession {
  /** The id of the agent run, the client's session, or the command. */
  readonly id: string;
  readonly name: string;
  readonly task_id: string | null;
}
