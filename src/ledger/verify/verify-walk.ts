import { blobName, blobsNamedIn } from '../blob.ts';
import type { Checkpoint } from '../format/checkpoint.ts';
import { sameBytes } from '../format/bytes.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../format/ledger-problem.ts';
import type { TreeHead } from '../format/proof.ts';
import type { Store } from '../store.ts';
import { TileCheck } from '../format/tile-check.ts';
import type { LedgerFault, LedgerWalk } from './walk.ts';

interface WalkOptions {
  readonly allSignatures?: boolean;
  readonly onProgress?: (entries: number) => void;
}

/**
 * Walks from the first entry to the newest checkpoint, with older checkpoints, tiles and named blobs beside it, in
 * bounded memory. What a running writer adds meanwhile is left for the next time.
 */
export async function findFirstFault(
  store: Store,
  walk: LedgerWalk,
  outside: Checkpoint | undefined,
  { allSignatures = false, onProgress }: WalkOptions,
): Promise<LedgerFault | undefined> {
  const tiles = new TileCheck(store, 0);
  const end = (await store.findCheckpoint())?.size ?? 0;
  // From far below 1, so that a row smuggled in before the first entry is met.
  for await (const batch of store.entries({ from: Number.MIN_SAFE_INTEGER, to: end })) {
    for (const step of walk.steps(batch)) {
      if (!step.ok) return step.finding;
      const { stored } = step;
      if (step.tiles.length > 0) await tiles.add(step.tiles);
      if (stored.note !== undefined) {
        const checkpoint = { size: stored.seq, note: stored.note };
        const fault = await walk.findFault(checkpoint, allSignatures || stored.seq === end ? 'check' : 'trust');
        if (fault) return fault;
      }
      if (stored.seq === outside?.size && !isAt(walk, outside)) return forked(outside);
      // Few entries name a blob; the others pay for a search in their text only.
      if (!step.text.includes('blob":"sha256:')) continue;
      for (const hash of blobsNamedIn(step.entry.data)) {
        if (!(await store.findBlob(hash))) return missingBlob(stored.seq, hash);
      }
    }
    onProgress?.(walk.position.head.size);
  }
  await tiles.finish();
  return (await findUnsigned(store)) ?? findGapAtEnd(walk, outside) ?? findWrongTile(tiles);
}

function findGapAtEnd(walk: LedgerWalk, outside: Checkpoint | undefined): LedgerFault | undefined {
  const { size } = walk.position.head;
  const beyond = outside?.size ?? 0;
  if (beyond <= size) return undefined;
  return finding(size + 1, 'ledger/rolled-back', `entries ${size + 1} to ${beyond} are missing from the end`);
}

/** The head is read first: a commit that comes in between makes the checkpoint the larger one, and that is no fault. */
export async function findUnsigned(store: Store): Promise<LedgerFault | undefined> {
  const { size } = await store.head();
  const signed = (await store.findCheckpoint())?.size ?? 0;
  if (size <= signed) return undefined;
  return finding(signed + 1, 'ledger/unsigned', `entries ${signed + 1} to ${size} are covered by no signed checkpoint`);
}

export function findWrongTile({ wrong }: TileCheck): LedgerFault | undefined {
  if (!wrong) return undefined;
  const seq = wrong.index * 2 ** wrong.level + 1;
  const message = `tile ${wrong.index} at level ${wrong.level} is not the hash of its entries`;
  return finding(seq, 'ledger/wrong-tile', message);
}

function isAt(walk: LedgerWalk, tree: TreeHead): boolean {
  return sameBytes(walk.position.frontier.root(), tree.root);
}

function forked(outside: Checkpoint): LedgerFault {
  return finding(
    outside.size,
    'ledger/forked',
    `the first ${outside.size} entries are not those of the outside checkpoint: history was rewritten`,
  );
}

function missingBlob(seq: number, hash: Uint8Array): LedgerFault {
  return finding(seq, 'ledger/missing-blob', `entry ${seq} names the blob ${blobName(hash)}, which is missing`);
}

function finding(seq: number, code: string, message: string): LedgerFault {
  return { seq, problem: ledgerProblem(code, message, DO_NOT_WRITE) };
}
