import { GENESIS } from '../format/chain.ts';
import type { Entry } from '../format/entry.ts';
import type { Commit, Head, Store, StoredEntry, Tile } from '../store.ts';
import { type LedgerFault, ledgerFault, type LedgerWalk, type WalkPosition } from './walk.ts';

/** Verified commits of a store: the entries, and the same entries as one commit that another store can append. */
export interface VerifiedCommits {
  readonly entries: readonly Entry[];
  readonly commit: Commit;
  readonly position: WalkPosition;
}

export type FollowEnd = LedgerFault | 'head-missing' | undefined;

/**
 * Verifies what a store has after the position of the walk, whole commits at a time. Reads one batch per round trip;
 * a batch usually holds everything. Returns the fault, or `head-missing` if the store lacks the position itself.
 */
export async function* followStore(
  store: Pick<Store, 'newer'>,
  walk: LedgerWalk,
): AsyncGenerator<VerifiedCommits, FollowEnd> {
  let collected = new CollectedCommits(walk.position.head);
  for (;;) {
    const news = await store.newer(walk.position.head);
    if (news === undefined) return 'head-missing';
    const rows = upToLastNote(news.entries);
    const fault = await collected.add(walk, rows);
    if (fault) return fault;
    const commit = collected.isWhole ? collected.commit : undefined;
    if (commit) {
      const { head, frontier, isNumbered } = walk.position;
      yield { entries: collected.entries, commit, position: { head, frontier: frontier.copy(), isNumbered } };
      collected = new CollectedCommits(head);
    }
    if (news.isAll && rows.length === news.entries.length) return collected.findUnsigned();
  }
}

/**
 * Cuts a batch that ends within a commit. The cut rows are read again with the next batch, unless the batch is only
 * part of one commit.
 */
function upToLastNote(rows: readonly StoredEntry[]): readonly StoredEntry[] {
  const last = rows.findLastIndex(({ note }) => note !== undefined);
  return last < 0 ? rows : rows.slice(0, last + 1);
}

class CollectedCommits {
  readonly #after: Head;
  readonly #rows: StoredEntry[] = [];
  readonly #tiles: Tile[] = [];
  readonly entries: Entry[] = [];

  constructor(after: Head = GENESIS) {
    this.#after = after;
  }

  get isWhole(): boolean {
    return this.#rows.at(-1)?.note !== undefined;
  }

  get commit(): Commit | undefined {
    const [first, ...rest] = this.#rows;
    const { seq: size, note } = this.#rows.at(-1) ?? {};
    if (first === undefined || size === undefined || note === undefined) return undefined;
    return { after: this.#after, entries: [first, ...rest], tiles: this.#tiles, checkpoint: { size, note } };
  }

  /** Checks the newest signature only, because it covers the entries of the earlier ones. */
  async add(walk: LedgerWalk, rows: readonly StoredEntry[]): Promise<LedgerFault | undefined> {
    for (const step of walk.steps(rows)) {
      if (!step.ok) return step.finding;
      const { seq, note } = step.stored;
      this.#rows.push(step.stored);
      this.entries.push(step.entry);
      this.#tiles.push(...step.tiles);
      if (note === undefined) continue;
      const fault = await walk.findFault({ size: seq, note }, step.stored === rows.at(-1) ? 'check' : 'trust');
      if (fault) return fault;
    }
    return undefined;
  }

  findUnsigned(): LedgerFault | undefined {
    const [first, last] = [this.#rows[0], this.#rows.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    const message = `entries ${first.seq} to ${last.seq} are covered by no signed checkpoint`;
    return ledgerFault(first.seq, 'ledger/unsigned', message);
  }
}
