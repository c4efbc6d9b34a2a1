/**
 * The health of a store. Also shown in `status_get` (`store`), in `/v1/health` (`stores`), and wherever the all-clear
 * is given.
 */
export type StoreHealth = Writable | NotWritable;

export interface Writable {
  readonly writable: true;
}

interface NotWritable {
  readonly writable: false;
  /** RFC 3339, UTC: when the first write failed. */
  readonly since: string;
  readonly reason: string;
  readonly hint: string;
  /**
   * `folder`: the ledger can be written, but other files of the state folder cannot. Absent: the ledger cannot be
   * written.
   */
  readonly what?: 'folder';
  /** If the ledger's database does not answer: the time since when. Data shown since then may be outdated. */
  readonly away_since?: string;
}

export const WRITABLE: Writable = { writable: true };

/** The health after another write: a success clears all faults, a failure keeps the time of the first one. */
export function healthAfter(
  before: StoreHealth,
  failure: { readonly code?: string; readonly message: string; readonly hint: string } | undefined,
  at: string,
): StoreHealth {
  if (failure === undefined) return WRITABLE;
  const since = before.writable ? at : before.since;
  const away = AWAY_CODES.has(failure.code ?? '') ? { away_since: since } : {};
  return { writable: false, since, reason: failure.message, hint: failure.hint, ...away };
}

/** Since when the database has not answered; undefined if it answers, or if the ledger has none. */
export function awaySinceOf(health: StoreHealth): string | undefined {
  return health.writable ? undefined : health.away_since;
}

/** Temporary problems of a database. */
export const AWAY_CODES: ReadonlySet<string> = new Set(['ledger/unavailable', 'ledger/recovering']);

/**
 * Reports whether a resource has run out that becomes free again. The failed call had no effect: a file that could not
 * be opened may exist.
 */
export function isShortage(error: unknown): boolean {
  return SHORTAGES.has(codeOf(error));
}

export function isDiskFault(error: unknown): boolean {
  return DISK_FAULTS.has(codeOf(error));
}

export function isShortageText(text: string): boolean {
  return /\b(?:EMFILE|ENFILE|EAGAIN|ENOMEM)\b|too many open files|cannot fork|resource temporarily unavailable/i.test(
    text,
  );
}

export function isDiskFaultText(text: string): boolean {
  return /\b(?:ENOSPC|EDQUOT|EROFS|EIO)\b|no space left on device|quota exceeded|read-only file system|input\/output error|file too large/i.test(
    text,
  );
}

const SHORTAGES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);
const DISK_FAULTS: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EFBIG']);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
