import { parseEntry } from '../../ledger/format/entry.ts';
import type { SnapshotTrust } from '../../ledger/snapshots-and-blobs.ts';
import type { Store } from '../../ledger/store.ts';
import { findFleet } from '../../state/fleet/fleet.ts';
import { emptyState, findUnknownEntry, foldEntry, type State } from '../../state/state.ts';
import type { Fence } from '../../git/fence/fence.ts';
import { findWorktreeNeed } from '../operations/worktree-views.ts';
import { readSnapshot } from '../loop/fold-state.ts';

/** The content of a ledger, read without a daemon. */
export interface StoredView {
  /** The level of the entries; null if the project was never on PostgreSQL. */
  readonly level: number | null;
  /** The first entry with a type unknown to this version. */
  readonly unknown: { readonly type: string; readonly seq: number } | undefined;
  readonly ownerOf: (worktree: StoredWorktree) => WorktreeOwnership;
}

interface StoredWorktree {
  readonly path: string;
  readonly branch: string | null;
  readonly fence: Fence | null;
}

interface WorktreeOwnership {
  /** Why the worktree must stay; null if its work is over. */
  readonly needed: string | null;
  /** Whether the ledger has the worktree's task. */
  readonly hasTask: boolean;
}

/**
 * Folds the newest snapshot and later entries, or everything if there is no snapshot. Undefined if that is more than
 * `mostEntries`. Writes nothing.
 */
export async function readStoredView(
  store: Store,
  trust: SnapshotTrust,
  mostEntries: number,
): Promise<StoredView | undefined> {
  const { size } = await store.head();
  const saved = await readSnapshot(store, trust, size);
  const state = saved?.ok === true ? saved.state : emptyState();
  if (size - state.seq > mostEntries) return undefined;
  for await (const batch of store.entries({ from: state.seq + 1, to: size })) {
    for (const { bytes, seq } of batch) {
      const entry = parseEntry(bytes);
      if (entry.ok) foldEntry(state, entry.value);
      state.seq = seq;
    }
  }
  return {
    level: findFleet(state)?.level ?? null,
    unknown: findUnknownEntry(state),
    ownerOf: (worktree) => findOwner(state, worktree),
  };
}

function findOwner(state: State, { path, branch, fence }: StoredWorktree): WorktreeOwnership {
  const hasTask = fence !== null && state.tasks.has(fence.taskId);
  return { needed: findWorktreeNeed(state, path, branch, fence), hasTask };
}
