/** Also shown in `status_get` (`store`), in `/v1/health` (`stores`), and wherever all is reported well. */
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
  /** `folder`: the ledger can be written, but other files of the state folder cannot. Missing: the ledger cannot. */
  readonly what?: 'folder';
  /** Set if the database of the ledger does not answer: since when. What is shown meanwhile is from before. */
  readonly away_since?: string;
}

export const WRITABLE: Writable = { writable: true };

/** The health after one more write: a success clears everything, a failure keeps the time of the first one. */
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

/** Undefined while the database answers, or if the ledger has none. */
export function awaySinceOf(health: StoreHealth): string | undefined {
  return health.writable ? undefined : health.away_since;
}

/** Problems of a database that pass by themselves. */
export const AWAY_CODES: ReadonlySet<string> = new Set(['ledger/unavailable', 'ledger/recovering']);

/** A resource that becomes free again has run out. The call had no effect: a file that could not be opened may exist. */
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
