import { blobName, blobsNamedIn } from './blob.ts';
import type { Checkpoint } from './checkpoint.ts';
import { sameBytes } from './hex.ts';
import { DO_NOT_WRITE, ledgerProblem } from './ledger-problem.ts';
import type { TreeHead } from './proof.ts';
import type { Store, StoredCheckpoint } from './store.ts';
import { TileCheck } from './tile-check.ts';
import type { Finding, Walk } from './walk.ts';

interface WalkOptions {
  readonly allSignatures?: boolean;
  readonly onProgress?: (entries: number) => void;
}

/** Walks from the first entry to the last, with checkpoints, tiles and named blobs beside it, in bounded memory. */
export async function findFirstFault(
  store: Store,
  walk: Walk,
  outside: Checkpoint | undefined,
  { allSignatures = false, onProgress }: WalkOptions,
): Promise<Finding | undefined> {
  const tiles = new TileCheck(store, 0);
  const checkpoints = new Cursor(store.checkpoints());
  await checkpoints.advance();
  // From far below 1, so that a row smuggled in before the first entry is met.
  for await (const batch of store.entries({ from: Number.MIN_SAFE_INTEGER })) {
    for (const stored of batch) {
      const step = walk.step(stored);
      if (!step.ok) return step.finding;
      if (step.tiles.length > 0) await tiles.add(step.tiles);
      const { current } = checkpoints;
      if (current && current.size <= stored.seq) {
        const fault = await walk.findFault(current, allSignatures || checkpoints.atLast ? 'check' : 'trust');
        if (fault) return fault;
        await checkpoints.advance();
      }
      if (stored.seq === outside?.size && !isAt(walk, outside)) return forked(outside);
      for (const hash of blobsNamedIn(step.entry.data)) {
        if (!(await store.findBlob(hash))) return missingBlob(stored.seq, hash);
      }
    }
    onProgress?.(walk.position.head.size);
  }
  await tiles.finish();
  return findFaultAtEnd(walk, tiles, checkpoints, outside);
}

function findFaultAtEnd(
  walk: Walk,
  tiles: TileCheck,
  checkpoints: Cursor,
  outside: Checkpoint | undefined,
): Finding | undefined {
  const { size } = walk.position.head;
  const beyond = Math.max(checkpoints.current?.size ?? 0, outside?.size ?? 0);
  if (beyond > size) {
    return finding(size + 1, 'rolled_back', `entries ${size + 1} to ${beyond} are missing from the end`);
  }
  if (checkpoints.current) {
    return finding(checkpoints.current.size, 'wrong_root', 'there is a checkpoint of no entries');
  }
  if (walk.checkpointed !== size) {
    const from = walk.checkpointed + 1;
    return finding(from, 'unsigned', `entries ${from} to ${size} are covered by no signed checkpoint`);
  }
  if (tiles.wrong) {
    const { level, index } = tiles.wrong;
    const seq = index * 2 ** level + 1;
    return finding(seq, 'wrong_tile', `tile ${index} at level ${level} is not the hash of its entries`);
  }
  return undefined;
}

function isAt(walk: Walk, tree: TreeHead): boolean {
  return sameBytes(walk.position.frontier.root(), tree.root);
}

function forked(outside: Checkpoint): Finding {
  return finding(
    outside.size,
    'forked',
    `the first ${outside.size} entries are not those of the outside checkpoint: history was rewritten`,
  );
}

function missingBlob(seq: number, hash: Uint8Array): Finding {
  return finding(seq, 'missing_blob', `entry ${seq} names the blob ${blobName(hash)}, which is missing`);
}

function finding(seq: number, code: string, message: string): Finding {
  return { seq, problem: ledgerProblem(code, message, DO_NOT_WRITE) };
}

/** One checkpoint at a time, and whether it is the last one. */
class Cursor {
  readonly #batches: AsyncIterator<readonly StoredCheckpoint[]>;
  #queue: StoredCheckpoint[] = [];
  #ended = false;

  constructor(batches: AsyncIterable<readonly StoredCheckpoint[]>) {
    this.#batches = batches[Symbol.asyncIterator]();
  }

  get current(): StoredCheckpoint | undefined {
    return this.#queue[0];
  }

  get atLast(): boolean {
    return this.#ended && this.#queue.length === 1;
  }

  async advance(): Promise<void> {
    this.#queue.shift();
    while (!this.#ended && this.#queue.length < 2) {
      const next = await this.#batches.next();
      if (next.done) this.#ended = true;
      else this.#queue = [...this.#queue, ...next.value];
    }
  }
}
