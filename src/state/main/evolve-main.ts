import type { EventOf, RecordedEvent } from '../event.ts';
import type { Effect } from '../runs/effect.ts';
import { findMain, needsApproval, setMain, type MainBranchState, type MainBranches } from './main-branch.ts';
import { findEndedCommand } from './running-command.ts';

/** (main branch, entry) → main branch. Entries about other things pass by. */
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
  // An agent can change the address of the remote: after the first look only a person's approval makes another upstream count.
  const upstream = before === undefined || data.old === null ? data.upstream : before.upstream;
  const position = { branch, sha: data.new, at, upstream };
  if (before === undefined) return { ...position, prepared: null, trusted: null, decisionId: null, lastCommand: null };
  const { trusted, decisionId, lastCommand } = before;
  // The branch has gone on from Baton's merge: that it was made needs no further look.
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
      // Denied: merges wait until the branch is back where it was.
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
