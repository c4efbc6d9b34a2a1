/** Many hosts on one PostgreSQL: what the rooms of one host, and the tables that hosts share, say to each other. */

/** A name that people choose for a machine, unique in its project. */
export const HOST_NAME: RegExp = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/;

/** What a machine has, as in `gpu` or `linux-arm64`: workers select hosts by it. */
export const HOST_LABEL = {
  pattern: '^[a-z0-9][a-z0-9._-]{0,62}$',
  expected: 'lower-case letters, digits, dots, dashes and underscores, at most 63',
} as const;

/** The level of entries that this version can read and write. A daemon stops deciding at an entry of a higher level. */
export const LEDGER_LEVEL = 2;

export interface HeldLease {
  readonly taskId: string;
  readonly epoch: number;
  /** How long the claim still lasts, by the monotonic clock of its host. */
  readonly remainingMs: number;
}

/** A live claim as the ledger has it. The caretaker makes sure that each has a lease row. */
export interface KnownClaim {
  readonly taskId: string;
  readonly epoch: number;
  readonly host: string;
  readonly expiryMs: number;
}

/** What a host reports about itself, once a second and project, in one statement. */
export interface HostBeat {
  readonly host: string;
  /** The fingerprint of its key. */
  readonly key: string;
  readonly version: string;
  readonly level: number;
  /** The head of its replica; `hash` in hexadecimal. */
  readonly size: number;
  readonly hash: string;
  /** Its clock minus the database's, as last measured. */
  readonly offsetMs: number;
  /** How many sessions wait for work there. */
  readonly waiting: number;
  /** Leases that were renewed since the last acknowledged beat. */
  readonly leases: readonly HeldLease[];
  /** False while it drains, or cannot decide. */
  readonly mayCare: boolean;
  /** How long the caretaker's lease lasts without a beat. */
  readonly careMs: number;
  /** How long nothing expires after a new term or generation: one renewal interval and a tick. */
  readonly graceMs: number;
  /** The newest term of a caretaker in its ledger. A restored database may remember an older one. */
  readonly term: number;
  /** Every live claim of the project, if this host was the caretaker at its last beat; else null. */
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
  /** Since its last beat, by the database's clock. */
  readonly silentMs: number;
}

export interface CaretakerLease {
  readonly host: string;
  /** Grows with every change of the caretaker. */
  readonly term: number;
}

export interface BeatAnswer {
  /** The database's clock: milliseconds since 1970. */
  readonly nowMs: number;
  /** Another value means: another server, timeline or start of the server since the last answer. */
  readonly generation: string;
  readonly caretaker: CaretakerLease | null;
  /** Hosts that ever sent a beat and were not forgotten, this one included. */
  readonly hosts: readonly HostRow[];
  /** For the caretaker: claims whose lease has ended by the database's clock, none during the grace. Nobody can renew them. */
  readonly expired: readonly { readonly taskId: string; readonly epoch: number }[];
  /** Leases of the beat that were not renewed: the caretaker has ended them, or has no row for them yet. Send them again. */
  readonly refused: readonly { readonly taskId: string; readonly epoch: number }[];
  /** How many hosts ask to join. */
  readonly joining: number;
  /** Some host has reported that its replica and the chain of this server have diverged. */
  readonly forked: boolean;
}

/** A machine that asks to join. It is in once `host admit` has recorded its key. */
export interface JoinRequest {
  readonly host: string;
  /** The public key as a line of a note (`renderKey`). */
  readonly publicKey: string;
  readonly labels: readonly string[];
  readonly agents: number;
  readonly rootCommit: string;
}
