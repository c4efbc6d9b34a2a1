import type { Entry } from './entry.ts';
import { DO_NOT_WRITE, ledgerProblem } from './ledger-problem.ts';
import type { Store, StoredCheckpoint, Tile } from './store.ts';
import type { Finding, Walk } from './walk.ts';

/**
 * Walks from where it stands to the newest checkpoint, and checks every entry and checkpoint in between, the newest
 * one's signature included. What comes after the newest checkpoint is not read: its own commit is still to come.
 */
export async function walkOn(
  store: Store,
  walk: Walk,
  onBatch: (entries: readonly Entry[], tiles: readonly Tile[]) => void | Promise<void>,
): Promise<Finding | undefined> {
  const checkpoints = await checkpointsAfter(store, walk.position.head.size);
  const newest = checkpoints.at(-1);
  if (!newest) return undefined;
  let next = 0;
  for await (const batch of store.entries({ from: walk.position.head.size + 1, to: newest.size })) {
    const entries: Entry[] = [];
    const tiles: Tile[] = [];
    for (const stored of batch) {
      const step = walk.step(stored);
      if (!step.ok) return step.finding;
      entries.push(step.entry);
      tiles.push(...step.tiles);
      const checkpoint = checkpoints[next];
      if (checkpoint?.size !== stored.seq) continue;
      next += 1;
      const fault = await walk.findFault(checkpoint, checkpoint === newest ? 'check' : 'trust');
      if (fault) return fault;
    }
    await onBatch(entries, tiles);
  }
  return walk.checkpointed === newest.size ? undefined : missing(walk, newest);
}

/** Read from the newest backwards: their number is that of the commits since, not that of the whole history. */
async function checkpointsAfter(store: Store, size: number): Promise<StoredCheckpoint[]> {
  const found: StoredCheckpoint[] = [];
  let next = await store.findCheckpoint();
  while (next && next.size > size) {
    found.push(next);
    next = await store.findCheckpoint(next.size - 1);
  }
  return found.toReversed();
}

function missing(walk: Walk, newest: StoredCheckpoint): Finding {
  const seq = walk.position.head.size + 1;
  const message = `entries ${seq} to ${newest.size} are missing: a checkpoint has seen them`;
  return { seq, problem: ledgerProblem('ledger/rolled-back', message, DO_NOT_WRITE) };
}
