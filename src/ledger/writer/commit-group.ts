import { linkDrafts, type LinkedEntry } from '../format/chain.ts';
import { signCheckpoint } from '../format/checkpoint.ts';
import type { Sha256, Signer } from '../format/crypto.ts';
import type { PreparedDraft } from '../format/draft.ts';
import type { Entry } from '../format/entry.ts';
import { LEDGER_LIMITS } from '../format/limits.ts';
import type { AppendResult } from './recorded.ts';
import type { Commit, StoredEntry, Tile } from '../store.ts';
import type { WalkPosition } from '../verify/walk.ts';

/** The drafts of one caller: they are recorded next to each other, in one commit, or not at all. */
export interface PendingAppend {
  readonly drafts: readonly PreparedDraft[];
  readonly bytes: number;
  readonly answer: (recorded: AppendResult) => void;
}

/** Takes the callers off the queue that share the next commit: the first one always, then as many as fit. */
export function dequeueGroup(queue: PendingAppend[]): PendingAppend[] {
  let entries = 0;
  let bytes = 0;
  const end = queue.findIndex((waiting, i) => {
    entries += waiting.drafts.length;
    bytes += waiting.bytes;
    return i > 0 && (entries > LEDGER_LIMITS.entriesPerCommit || bytes > LEDGER_LIMITS.bytesPerCommit);
  });
  return queue.splice(0, end < 0 ? queue.length : end);
}

export interface BuiltCommit {
  readonly commit: Commit;
  /** Where the ledger stands once the commit is in. */
  readonly position: WalkPosition;
  /** For each caller, its entries. */
  readonly linked: readonly (readonly LinkedEntry[])[];
  /** The same without the callers. */
  readonly entries: readonly Entry[];
}

export interface CommitMaker {
  readonly sha256: Sha256;
  readonly project: string;
  readonly signer: Signer;
}

/** Numbers, links, hashes and signs: everything about a commit except writing it. */
export function buildCommit(
  { sha256, project, signer }: CommitMaker,
  at: string,
  from: WalkPosition,
  callers: readonly (readonly PreparedDraft[])[],
): BuiltCommit {
  const frontier = from.frontier.copy();
  const tiles: Tile[] = [];
  const rows: StoredEntry[] = [];
  const entries: Entry[] = [];
  let { head } = from;
  const linked = callers.map((drafts) => {
    const own = linkDrafts(sha256, project, at, head, drafts);
    for (const { entry, stored } of own) {
      rows.push(stored);
      entries.push(entry);
    }
    const last = own.at(-1)?.stored;
    if (last) head = { size: last.seq, hash: last.hash };
    return own;
  });
  for (const { hash } of rows) {
    const completed = frontier.add(hash);
    if (completed.length > 0) tiles.push(...completed);
  }
  if (!isSome(rows)) throw new Error('a commit has at least one entry');
  const { size } = head;
  const note = signCheckpoint(sha256, project, { size, root: frontier.root() }, from.head.size, signer);
  const commit = { after: from.head, entries: rows, tiles, checkpoint: { size, note } };
  return { commit, position: { head, frontier }, linked, entries };
}

function isSome<T>(items: readonly T[]): items is readonly [T, ...T[]] {
  return items.length > 0;
}
