import { sameBytes, toHex } from '../format/bytes.ts';
import type { Commit, Head, NewerEntries, StoredEntry } from '../store.ts';

/**
 * The announcement of a durable commit by its writer, so that other hosts need not read it from the database.
 * Correctness does not depend on it: announced entries are verified like any others, and a lost or false announcement
 * costs a read.
 */
export interface Announcement {
  readonly head: Head;
  /** Missing if the entries do not fit into a notification. */
  readonly pushed?: PushedEntries;
}

interface PushedEntries {
  readonly after: Head;
  readonly entries: readonly StoredEntry[];
}

export function announcementOf({ after, entries, checkpoint }: Commit): Announcement {
  const { hash } = entries.at(-1) ?? entries[0];
  const stored = entries.map((entry) => (entry.seq === checkpoint.size ? { ...entry, note: checkpoint.note } : entry));
  return { head: { size: checkpoint.size, hash }, pushed: { after, entries: stored } };
}

/** Joins two commits into one announcement. */
export function joinAnnouncements(first: Announcement | undefined, next: Announcement): Announcement {
  if (first === undefined) return next;
  const { head } = next;
  if (first.pushed === undefined || next.pushed === undefined || !isSame(first.head, next.pushed.after))
    return { head };
  const entries = [...first.pushed.entries, ...next.pushed.entries];
  return { head, pushed: { after: first.pushed.after, entries } };
}

/** The server refuses payloads of 8,000 bytes and more. */
const MOST_BYTES = 7_900;

export function renderAnnouncement({ head, pushed }: Announcement): string {
  const short = `${head.size} ${toHex(head.hash)}`;
  if (pushed === undefined || pushed.entries.length > MOST_ENTRIES) return short;
  const rows = pushed.entries.map(({ hash, bytes, note = null }) => [toHex(hash), Buffer.from(bytes).toString(), note]);
  const whole = `${short} ${pushed.after.size} ${toHex(pushed.after.hash)} ${JSON.stringify(rows)}`;
  return Buffer.byteLength(whole) <= MOST_BYTES ? whole : short;
}

/** An entry has at least a hundred bytes, so more entries never fit. */
const MOST_ENTRIES = 50;

/** Returns undefined for the empty notification of an earlier version. */
export function parseAnnouncement(payload: string): Announcement | undefined {
  const found = /^(\d{1,15}) ([0-9a-f]{64})(?: (\d{1,15}) ([0-9a-f]{64}) (.+))?$/s.exec(payload);
  if (found === null) return undefined;
  const [, size = '', hash = '', afterSize, afterHash, rows] = found;
  const head = headOf(size, hash);
  if (afterSize === undefined || afterHash === undefined || rows === undefined) return { head };
  const after = headOf(afterSize, afterHash);
  const entries = parseRows(rows, after.size);
  return entries === undefined ? { head } : { head, pushed: { after, entries } };
}

function headOf(size: string, hash: string): Head {
  return { size: Number(size), hash: Buffer.from(hash, 'hex') };
}

function parseRows(text: string, size: number): readonly StoredEntry[] | undefined {
  try {
    const rows: unknown = JSON.parse(text);
    if (!Array.isArray(rows)) return undefined;
    const entries = rows.flatMap((row, i) => toEntry(row, size + 1 + i) ?? []);
    return entries.length === rows.length ? entries : undefined;
  } catch {
    return undefined;
  }
}

function toEntry(row: unknown, seq: number): StoredEntry | undefined {
  if (!Array.isArray(row)) return undefined;
  const [hash, bytes, note]: unknown[] = row;
  if (typeof hash !== 'string' || typeof bytes !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) return undefined;
  const stored = { seq, hash: Buffer.from(hash, 'hex'), bytes: Buffer.from(bytes) };
  return typeof note === 'string' ? { ...stored, note } : note === null ? stored : undefined;
}

const MOST_WAITING = 64;

/** Announced entries that no reader has asked for yet. */
export class PushedCommits {
  readonly #waiting: PushedEntries[] = [];

  add({ pushed }: Announcement): void {
    if (pushed === undefined || this.#waiting.length >= MOST_WAITING) this.#waiting.length = 0;
    if (pushed !== undefined) this.#waiting.push(pushed);
  }

  /** Removes and returns all announced entries that follow a head without a gap; undefined if there are none. */
  take(head: Head): NewerEntries | undefined {
    const entries: StoredEntry[] = [];
    let at = head;
    for (const pushed of this.#waiting.splice(0)) {
      const last = pushed.entries.at(-1);
      // Takes whole commits only, because the last entry's note signs the others.
      if (last?.note === undefined || !isSame(pushed.after, at)) continue;
      entries.push(...pushed.entries);
      at = { size: last.seq, hash: last.hash };
    }
    return entries.length === 0 ? undefined : { entries, isAll: true };
  }
}

function isSame(one: Head, other: Head): boolean {
  return one.size === other.size && sameBytes(one.hash, other.hash);
}
