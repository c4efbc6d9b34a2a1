import type { Problem } from '../../protocol/shape/problem.ts';
import { sameBytes } from '../format/bytes.ts';
import { checkLink, type HashedEntry, hashEntries } from '../format/chain.ts';
import { parseCheckpoint } from '../format/checkpoint.ts';
import type { Verifier } from '../format/crypto.ts';
import type { Entry } from '../format/entry.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../format/limits.ts';
import type { Frontier } from '../format/merkle.ts';
import type { Head, Store, StoredCheckpoint, StoredEntry, Tile } from '../store.ts';
import type { Keyring } from './keyring.ts';

/** What is wrong, and where: `seq` is the first entry that cannot be relied on, null where no entry is concerned. */
export interface LedgerFault {
  readonly seq: number | null;
  readonly problem: Problem;
}

/** How far a walk has come: everything up to here is known to be right. */
export interface WalkPosition {
  readonly head: Head;
  readonly frontier: Frontier;
}

/**
 * Goes along a ledger, entry by entry, and believes nothing: each entry must follow the one before, each checkpoint
 * must state the tree that the entries make. Opening, catching up, verifying and reading an export are all this walk.
 */
export class LedgerWalk {
  readonly #verifier: Verifier;
  readonly #project: string;
  readonly #keyring: Keyring;
  readonly #frontier: Frontier;
  #head: Head;
  #checkpointed: number;

  constructor(verifier: Verifier, project: string, keyring: Keyring, start: WalkPosition) {
    this.#verifier = verifier;
    this.#project = project;
    this.#keyring = keyring;
    this.#frontier = start.frontier.copy();
    this.#head = start.head;
    this.#checkpointed = start.head.size;
  }

  get position(): WalkPosition {
    return { head: this.#head, frontier: this.#frontier };
  }

  /** The size of the checkpoint that was passed last. */
  get checkpointed(): number {
    return this.#checkpointed;
  }

  /** Goes on, entry by entry: each with its text and the tiles that it completes, or why not, and that is the last. */
  *steps(batch: readonly StoredEntry[]): Generator<WalkStep> {
    for (const look of hashEntries(this.#verifier.sha256, batch)) {
      const step = this.#step(look);
      yield step;
      if (!step.ok) return;
    }
  }

  #step(look: HashedEntry): WalkStep {
    const { stored } = look;
    const link = checkLink(this.#project, this.#head, look);
    if (!link.ok) return { ok: false, finding: { seq: this.#head.size + 1, problem: link.problems[0] } };
    const { entry, text } = link.value;
    this.#head = { size: stored.seq, hash: stored.hash };
    this.#keyring.read(entry);
    return { ok: true, stored, entry, text, tiles: this.#frontier.add(stored.hash) };
  }

  /** Holds a checkpoint of exactly this size against the tree, and where asked against the trusted keys. */
  async findFault(
    stored: StoredCheckpoint,
    signature: 'check' | 'trust',
    row: 'linked' | 'unlinked' = 'linked',
  ): Promise<LedgerFault | undefined> {
    const checkpoint = parseCheckpoint(stored.note);
    if (!checkpoint.ok) return this.#fault(stored, checkpoint.problems[0]);
    const { size, root, previous } = checkpoint.value;
    if (size !== stored.size || size !== this.#head.size || !sameBytes(root, this.#frontier.root())) {
      return this.#wrong(stored, 'ledger/wrong-root', `the checkpoint of ${stored.size} entries states another tree`);
    }
    if (row === 'linked' && previous !== this.#checkpointed) {
      return this.#wrong(stored, 'ledger/missing-checkpoint', `the checkpoint of ${previous} entries is missing`);
    }
    this.#checkpointed = size;
    // A key that waits becomes trusted by this signature, so that one cannot be left out.
    if (signature === 'trust' && !this.#keyring.hasWaiting) return undefined;
    if (await this.#keyring.accepts(checkpoint.value)) return undefined;
    return this.#wrong(
      stored,
      'ledger/wrong-signature',
      `no trusted key has signed the checkpoint of ${stored.size} entries`,
    );
  }

  #wrong(stored: StoredCheckpoint, code: string, message: string): LedgerFault {
    return this.#fault(stored, ledgerProblem(code, message, DO_NOT_WRITE));
  }

  #fault(stored: StoredCheckpoint, problem: Problem): LedgerFault {
    return { seq: stored.size, problem };
  }
}

export type WalkStep = Stepped | { readonly ok: false; readonly finding: LedgerFault };

interface Stepped {
  readonly ok: true;
  readonly stored: StoredEntry;
  readonly entry: Entry;
  readonly text: string;
  readonly tiles: readonly Tile[];
}

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
