import type { Problem } from '../../protocol/shape/problem.ts';
import { sameBytes } from '../format/bytes.ts';
import { checkLink, type EntryText, GENESIS, type HashedEntry, hashEntries } from '../format/chain.ts';
import { parseCheckpoint } from '../format/checkpoint.ts';
import type { Sha256, Verifier } from '../format/crypto.ts';
import { type Entry, parseEntry } from '../format/entry.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../format/limits.ts';
import { Frontier } from '../format/merkle.ts';
import { type LastNumbers, takeNumbers } from '../format/task-numbers.ts';
import { Tree } from '../format/tree.ts';
import { type Head, type Store, type StoredCheckpoint, type StoredEntry, type Tile } from '../store.ts';
import type { Keyring } from './keyring.ts';

export interface LedgerFault {
  readonly seq: number | null;
  readonly problem: Problem;
}

export function ledgerFault(seq: number | null, code: string, message: string, hint = DO_NOT_WRITE): LedgerFault {
  return { seq, problem: ledgerProblem(code, message, hint) };
}

export interface TreePosition {
  readonly head: Head;
  readonly frontier: Frontier;
}

export interface WalkPosition extends TreePosition {
  /** Whether the last entry is of version 2. Then all later ones are. */
  readonly isNumbered: boolean;
}

/**
 * Walks over the entries: each must follow the previous one, and each checkpoint must state the tree of the entries.
 */
export class LedgerWalk {
  readonly #verifier: Verifier;
  readonly #project: string;
  readonly #keyring: Keyring;
  readonly #frontier: Frontier;
  #head: Head;
  #checkpointed: number;
  #isNumbered: boolean;
  /** Before the first entry of version 2 no task has a number. */
  readonly #knowsNumbers: boolean;
  readonly #lastNumbers: LastNumbers = new Map();

  constructor(verifier: Verifier, project: string, keyring: Keyring, start?: WalkPosition) {
    this.#verifier = verifier;
    this.#project = project;
    this.#keyring = keyring;
    this.#frontier = start?.frontier.copy() ?? new Frontier(verifier.sha256);
    this.#head = start?.head ?? GENESIS;
    this.#checkpointed = this.#head.size;
    this.#isNumbered = start?.isNumbered === true;
    this.#knowsNumbers = !this.#isNumbered;
  }

  get position(): WalkPosition {
    return { head: this.#head, frontier: this.#frontier, isNumbered: this.#isNumbered };
  }

  get keyring(): Keyring {
    return this.#keyring;
  }

  get checkpointed(): number {
    return this.#checkpointed;
  }

  /** Yields each entry with its text and the tiles that it completes. A fault is the last step. */
  *steps(batch: readonly StoredEntry[]): Generator<WalkStep> {
    for (const hashed of hashEntries(this.#verifier.sha256, batch)) {
      const step = this.step(hashed);
      yield step;
      if (!step.ok) return;
    }
  }

  step(hashed: HashedEntry): WalkStep {
    const { stored } = hashed;
    const link = checkLink(this.#project, this.#head, hashed);
    if (!link.ok) return { ok: false, finding: { seq: this.#head.size + 1, problem: link.problems[0] } };
    const { entry, text } = link.value;
    const wrong = this.#findWrongNumber(entry);
    if (wrong !== undefined) return { ok: false, finding: ledgerFault(entry.seq, 'ledger/wrong-number', wrong) };
    this.#head = { size: stored.seq, hash: stored.hash };
    this.#keyring.read(entry);
    return { ok: true, stored, entry, text, tiles: this.#frontier.add(stored.hash) };
  }

  #findWrongNumber({ seq, tasks }: Entry): string | undefined {
    if (tasks === undefined)
      return this.#isNumbered ? `entry ${seq} has no numbers within tasks, but earlier entries have them` : undefined;
    this.#isNumbered = true;
    const wrong = takeNumbers(this.#lastNumbers, tasks, this.#knowsNumbers);
    return wrong && `entry ${seq} is not entry ${wrong.expected} of the task ${wrong.taskId}, as the earlier ones say`;
  }

  /** Compares a checkpoint of exactly this size with the tree, and checks its signature if requested. */
  async findFault(
    stored: StoredCheckpoint,
    signature: 'check' | 'trust',
    row: 'linked' | 'unlinked' = 'linked',
  ): Promise<LedgerFault | undefined> {
    const checkpoint = parseCheckpoint(stored.note);
    if (!checkpoint.ok) return { seq: stored.size, problem: checkpoint.problems[0] };
    const { size, root, previous } = checkpoint.value;
    if (size !== stored.size || size !== this.#head.size || !sameBytes(root, this.#frontier.root())) {
      const message = `the checkpoint of ${stored.size} entries states a different tree`;
      return ledgerFault(stored.size, 'ledger/wrong-root', message);
    }
    if (row === 'linked' && previous !== this.#checkpointed) {
      return ledgerFault(stored.size, 'ledger/missing-checkpoint', `the checkpoint of ${previous} entries is missing`);
    }
    this.#checkpointed = size;
    // This signature makes a pending key trusted, so its check cannot be skipped.
    if (signature === 'trust' && !this.#keyring.hasWaiting) return undefined;
    if (await this.#keyring.accepts(checkpoint.value)) return undefined;
    const message = `no trusted key has signed the checkpoint of ${stored.size} entries`;
    return ledgerFault(stored.size, 'ledger/wrong-signature', message);
  }
}

/** The position after the first `size` entries, read from the stored tree; undefined if hashes are missing. */
export async function findPosition(store: Store, sha256: Sha256, size: number): Promise<WalkPosition | undefined> {
  const frontier = await new Tree(store, sha256, size).findFrontier(size);
  for await (const [last] of store.entries({ from: size, to: size })) {
    if (frontier === undefined || last === undefined) return undefined;
    const entry = parseEntry(last.bytes);
    return { head: { size, hash: last.hash }, frontier, isNumbered: entry.ok && entry.value.v > 1 };
  }
  return undefined;
}

interface Stepped extends EntryText {
  readonly ok: true;
  readonly stored: StoredEntry;
  readonly tiles: readonly Tile[];
}

export type WalkStep = Stepped | { readonly ok: false; readonly finding: LedgerFault };

/** Checks every entry up to the newest checkpoint, and its signature. A commit in progress after it is not read. */
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
  if (walk.checkpointed === newest) return undefined;
  const seq = walk.position.head.size + 1;
  const message = `entries ${seq} to ${newest} are missing, but a checkpoint covers them`;
  return ledgerFault(seq, 'ledger/rolled-back', message);
}
