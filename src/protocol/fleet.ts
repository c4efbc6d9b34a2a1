/** The messages and tables by which the hosts of one PostgreSQL database communicate. */

/** A host's name, chosen by people and unique in its project. */
export const HOST_NAME: RegExp = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/;

/** A label of a host, such as `gpu` or `linux-arm64`; workers select hosts by labels. */
export const HOST_LABEL = {
  pattern: '^[a-z0-9][a-z0-9._-]{0,62}$',
  expected: 'lower-case letters, digits, dots, dashes and underscores, at most 63',
} as const;

/**
 * The newest level of entries that this version can read and write. A daemon stops deciding at an entry of a higher
 * level.
 */
export const LEDGER_LEVEL = 4;

export interface HeldLease {
  readonly taskId: string;
  readonly epoch: number;
  /** How long the claim still lasts, by the monotonic clock of its host. */
  readonly remainingMs: number;
}

/** A live claim as the ledger records it. The caretaker ensures that each has a lease row. */
export interface KnownClaim {
  readonly taskId: string;
  readonly epoch: number;
  readonly host: string;
  readonly expiryMs: number;
}

/** A host's report about itself, sent once a second per project in one statement. */
export interface HostBeat {
  readonly host: string;
  /** The fingerprint of the host's key. */
  readonly key: string;
  readonly version: string;
  readonly level: number;
  /** The head of the host's replica; `hash` in hexadecimal. */
  readonly size: number;
  readonly hash: string;
  /** The host's clock minus the database's clock, as last measured. */
  readonly offsetMs: number;
  /** The number of sessions on this host that wait for work. */
  readonly waiting: number;
  /** Leases that were renewed since the last acknowledged report. */
  readonly leases: readonly HeldLease[];
  /** Whether the host may become caretaker; false while it drains or cannot decide. */
  readonly mayCare: boolean;
  /** How long the caretaker's lease lasts without a report. */
  readonly careMs: number;
  /** How long after a new term or generation no lease expires: one renewal interval and a tick. */
  readonly graceMs: number;
  /** The newest caretaker's term in the host's ledger. A restored database may have an older one. */
  readonly term: number;
  /** Every live claim of the project if this host was the caretaker at its last report, else null. */
  readonly claims: readonly KnownClaim[] | null;
}

export interface HostRow {
  readonly host: string;
  readonly key: string;
  readonly version: string;
  readonly level: number;
  readonly size: number;
  readonly offsetMs: number;
  readonly waiting: number;
  /** Milliseconds since the host's last report, by the database's clock. */
  readonly silentMs: number;
}

export interface CaretakerLease {
  readonly host: string;
  /** The caretaker's term, which grows with every change of the caretaker. */
  readonly term: number;
}

export interface BeatAnswer {
  /** The database's clock: milliseconds since 1970. */
  readonly nowMs: number;
  /**
   * Identifies the server, its timeline and its start. A changed value means that one of them changed since the last
   * answer.
   */
  readonly generation: string;
  readonly caretaker: CaretakerLease | null;
  /** Hosts that ever sent a report and were not forgotten, including this one. */
  readonly hosts: readonly HostRow[];
  /**
   * For the caretaker: claims whose lease has ended by the database's clock, none during the grace period. Their leases
   * can no longer be renewed.
   */
  readonly expired: readonly { readonly taskId: string; readonly epoch: number }[];
  /**
   * Reported leases that were not renewed: the caretaker has ended them, or the database has no row for them yet. The
   * host sends them again.
   */
  readonly refused: readonly { readonly taskId: string; readonly epoch: number }[];
  /** The number of hosts that ask to join. */
  readonly joining: number;
  /** Whether a host has reported that its replica and this server's chain have diverged. */
  readonly forked: boolean;
}

/** A host that asks to join. It is admitted once `host admit` has recorded its key. */
export interface JoinRequest {
  readonly host: string;
  /** The public key as a line of a note (`renderKey`). */
  readonly publicKey: string;
  readonly labels: readonly string[];
  readonly agents: number;
  readonly rootCommit: string;
}
