import type { Entry } from '../format/entry.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../format/ledger-problem.ts';
import type { Store, Tile } from '../store.ts';
import type { LedgerFault, LedgerWalk } from './walk.ts';

/**
 * Walks from where it stands to the newest checkpoint, and checks every entry and checkpoint in between, the newest
 * one's signature included. What comes after the newest checkpoint is not read: its own commit is still to come.
 */
export async function walkToNewestCheckpoint(
  store: Store,
  walk: LedgerWalk,
  onBatch: (entries: readonly Entry[], tiles: readonly Tile[]) => void | Promise<void>,
): Promise<LedgerFault | undefined> {
  const newest = (await store.findCheckpoint())?.size ?? 0;
  if (newest <= walk.position.head.size) return undefined;
  for await (const batch of store.entries({ from: walk.position.head.size + 1, to: newest })) {
    const entries: Entry[] = [];
    const tiles: Tile[] = [];
    for (const step of walk.steps(batch)) {
      if (!step.ok) return step.finding;
      const { stored } = step;
      entries.push(step.entry);
      tiles.push(...step.tiles);
      if (stored.note === undefined) continue;
      const checkpoint = { size: stored.seq, note: stored.note };
      const fault = await walk.findFault(checkpoint, stored.seq === newest ? 'check' : 'trust');
      if (fault) return fault;
    }
    await onBatch(entries, tiles);
  }
  return walk.checkpointed === newest ? undefined : missing(walk, newest);
}

/** Seen a moment ago, and gone now. */
function missing(walk: LedgerWalk, newest: number): LedgerFault {
  const seq = walk.position.head.size + 1;
  const message = `entries ${seq} to ${newest} are missing: a checkpoint has seen them`;
  return { seq, problem: ledgerProblem('ledger/rolled-back', message, DO_NOT_WRITE) };
}
