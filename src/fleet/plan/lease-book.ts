import type { BeatAnswer, HeldLease } from '../../protocol/fleet.ts';

/**
 * How long the database has acknowledged each claim of this host, by the host's monotonic clock. The database's own
 * deadline is never earlier, because it starts when the beat arrives.
 */
export type LeaseBook = Map<string, number>;

/** Records a granted claim. Its lease is counted from before the commit was sent. */
export function noteGrant(book: LeaseBook, claim: ClaimRef, sentMs: number, expiryMs: number): void {
  extend(book, claim, sentMs + expiryMs);
}

/** Records that a beat sent at `sentMs` renewed its leases, except those that the answer refuses. */
export function noteAnswer(
  book: LeaseBook,
  leases: readonly HeldLease[],
  { refused }: Pick<BeatAnswer, 'refused'>,
  sentMs: number,
): void {
  const lost = new Set(refused.map(keyOf));
  for (const lease of leases) if (!lost.has(keyOf(lease))) extend(book, lease, sentMs + lease.remainingMs);
}

/** Drops all leases except those of live claims. */
export function keepLeases(book: LeaseBook, live: readonly ClaimRef[]): void {
  const keys = new Set(live.map(keyOf));
  for (const key of book.keys()) if (!keys.has(key)) book.delete(key);
}

/** Milliseconds until the host must freeze the agent; undefined if the database never acknowledged the claim. */
export function remainingMs(book: ReadonlyMap<string, number>, claim: ClaimRef, nowMs: number): number | undefined {
  const untilMs = book.get(keyOf(claim));
  return untilMs === undefined ? undefined : Math.max(0, untilMs - nowMs);
}

export interface ClaimRef {
  readonly taskId: string;
  readonly epoch: number;
}

function extend(book: LeaseBook, claim: ClaimRef, untilMs: number): void {
  const key = keyOf(claim);
  book.set(key, Math.max(untilMs, book.get(key) ?? 0));
}

function keyOf({ taskId, epoch }: ClaimRef): string {
  return `${epoch} ${taskId}`;
}
