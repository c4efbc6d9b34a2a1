/** What could be read of the ledger in the state folder. On PostgreSQL this is the replica. */
export interface LedgerFacts {
  readonly path: string;
  /** The size with the write-ahead log; null if there is no file. */
  readonly bytes: number | null;
  readonly isWritable: boolean;
  /** Why the signing key is unusable; null if it is usable, or if there is none yet. */
  readonly key: FoundProblem | null;
  /** Whether the ledger has no entries yet. */
  readonly isNew: boolean;
  /** Why the ledger cannot be opened or read. */
  readonly problem: FoundProblem | null;
  /** Null if the ledger does not exist or could not be read. */
  readonly inside: {
    readonly entries: number;
    readonly isReplica: boolean;
    /** Damaged pages and changes of the schema; null if the file is too large to check. */
    readonly faults: readonly string[] | null;
    readonly chain: ChainFacts;
    readonly snapshot: SnapshotFacts;
    /** When the newest entry was recorded. */
    readonly newestAt: string | null;
    /** The level of the entries; null on SQLite, or if unknown. */
    readonly level: number | null;
    /** Entries of types that this version does not know, one sentence each. */
    readonly unknown: readonly string[];
  } | null;
}

export interface FoundProblem {
  readonly message: string;
  readonly hint: string;
}

export interface ChainFacts {
  /** `tail`: only the newest entries, because the ledger is large. */
  readonly kind: 'whole' | 'tail';
  readonly from: number;
  readonly findings: readonly (FoundProblem & { readonly code: string; readonly seq: number | null })[];
  readonly warnings: readonly string[];
  readonly hasOutside: boolean;
}

export type SnapshotFacts =
  | { readonly kind: 'none' }
  | { readonly kind: 'matches' | 'unfolded'; readonly size: number }
  | ({ readonly kind: 'differs' } & FoundProblem)
  | { readonly kind: 'fault'; readonly fault: 'unsigned' | 'damaged' | 'foreign' | 'homeless' };
