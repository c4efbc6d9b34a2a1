/** What was read of the ledger in the state folder. On PostgreSQL it is the replica. */
export interface LedgerFacts {
  readonly path: string;
  /** With its write-ahead log; null if there is no file. */
  readonly bytes: number | null;
  readonly isWritable: boolean;
  /** Why the signing key cannot be used; null if it can, or there is none yet. */
  readonly key: FoundProblem | null;
  /** Nothing was recorded yet. */
  readonly isNew: boolean;
  /** Why it cannot be opened or read. */
  readonly problem: FoundProblem | null;
  /** Null if it could not be read, or does not exist. */
  readonly inside: {
    readonly entries: number;
    readonly isReplica: boolean;
    /** Damaged pages and changes of the schema; null if the file is too large to look for them. */
    readonly faults: readonly string[] | null;
    readonly chain: ChainFacts;
    readonly snapshot: SnapshotFacts;
    /** When the newest entry was recorded. */
    readonly newestAt: string | null;
    /** The level of its entries; null on SQLite, or if unknown. */
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
