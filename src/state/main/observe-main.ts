import { event } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import { findMain } from './main-branch.ts';
import { listSessionsSince } from './sessions-since.ts';

/** What a look at the main branch found. */
export interface ObserveMain {
  readonly branch: string;
  readonly sha: string;
  readonly upstream: string | null;
  /** The project names its main branch. Otherwise the repository says which it is, and whoever can write there can change that. */
  readonly isConfigured: boolean;
  /** The branch was last known to be where it is on record. */
  readonly seenAt: string;
  /** The move as it was measured; null if there was nothing to compare with. */
  readonly move: ObservedMove | null;
}

export interface ObservedMove {
  /** Where the move began: the position on record, or the merge commit that Baton has moved the branch to since. */
  readonly old: string;
  readonly fastForward: boolean;
  readonly commits: number;
  /** Whether the commits are on the upstream branch; null if it was not asked. */
  readonly onUpstream: boolean | null;
  readonly authors: readonly string[];
  readonly stat: string | null;
}

export type ObserveResult = 'known' | 'recorded' | 'stale';

/**
 * Records where the main branch is, if Baton did not move it there. `stale`: the position on record is no longer the one that the move was
 * measured from, and the caller looks again.
 */
export function decideObserveMain(state: State, seen: ObserveMain): Outcome<ObserveResult> {
  const { branch, sha, upstream, move } = seen;
  const main = findMain(state);
  if (main === undefined || (main.branch !== branch && seen.isConfigured))
    return decided([firstObservation(seen)], 'recorded');
  if (main.branch === branch && (sha === main.sha || sha === main.prepared?.sha)) return decided([], 'known');
  if (move === null || (move.old !== main.sha && move.old !== main.prepared?.sha)) return decided([], 'stale');
  const isRenamed = main.branch !== branch;
  const sessions = listSessionsSince(state, seen.seenAt);
  const moved = event('MainMoved', {
    branch,
    ...(isRenamed ? { previous_branch: main.branch } : {}),
    old: move.old,
    new: sha,
    fast_forward: move.fastForward && !isRenamed,
    commits: move.commits,
    // An upstream that was exchanged since is no witness.
    on_upstream: move.onUpstream === true && upstream !== main.upstream ? false : move.onUpstream,
    upstream,
    authors: move.authors,
    stat: move.stat,
    sessions: sessions.slice(0, MOST_SESSIONS),
  });
  return decided([moved], 'recorded');
}

const MOST_SESSIONS = 50;

function firstObservation({ branch, sha, upstream }: ObserveMain) {
  const nothing = { on_upstream: null, authors: [], stat: null, sessions: [] };
  return event('MainMoved', { branch, old: null, new: sha, fast_forward: true, commits: 0, upstream, ...nothing });
}
