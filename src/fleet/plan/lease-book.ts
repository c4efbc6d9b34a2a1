import type { BeatAnswer, HeldLease } from '../../protocol/fleet.ts';

/**
 * How long the database has acknowledged each claim of this host, by the host's monotonic clock. The database's own
 * deadline is never earlier, because it counts from when the beat arrived.
 */
export type LeaseBook = ReadonlyMap<string, number>;

export const NO_LEASES: LeaseBook = new Map();

/** A claim that the ledger granted lasts a full expiry from before its commit was sent. */
export function noteGrant(book: LeaseBook, claim: ClaimRef, sentMs: number, expiryMs: number): LeaseBook {
  return extended(book, [[claim, sentMs + expiryMs]]);
}

/** A beat that was sent at `sentMs` renewed its leases, except for those that the answer refuses. */
export function noteAnswer(
  book: LeaseBook,
  leases: readonly HeldLease[],
  { refused }: Pick<BeatAnswer, 'refused'>,
  sentMs: number,
): LeaseBook {
  const lost = new Set(refused.map(keyOf));
  const renewed = leases.filter((lease) => !lost.has(keyOf(lease)));
  return extended(
    book,
    renewed.map((lease) => [lease, sentMs + lease.remainingMs]),
  );
}

/** Keeps only the live claims. */
export function keepLeases(book: LeaseBook, live: readonly ClaimRef[]): LeaseBook {
  const keys = new Set(live.map(keyOf));
  return new Map([...book].filter(([key]) => keys.has(key)));
}

/** Milliseconds until the host must freeze the agent; undefined if the database never acknowledged the claim. */
export function remainingMs(book: LeaseBook, claim: ClaimRef, nowMs: number): number | undefined {
  const untilMs = book.get(keyOf(claim));
  return untilMs === undefined ? undefined : Math.max(0, untilMs - nowMs);
}

export interface ClaimRef {
  readonly taskId: string;
  readonly epoch: number;
}

function extended(book: LeaseBook, more: readonly (readonly [ClaimRef, number])[]): LeaseBook {
  const next = new Map(book);
  for (const [claim, untilMs] of more) next.set(keyOf(claim), Math.max(untilMs, next.get(keyOf(claim)) ?? 0));
  return next;
}

function keyOf({ taskId, epoch }: ClaimRef): string {
  return `${epoch} ${taskId}`;
}
