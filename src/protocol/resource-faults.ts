/**
 * Whether a project's store can be written. It is the same value in `status_get` (`store`), in `/v1/health` (`stores`), and wherever a
 * surface must prove that all is well.
 */
export type StoreHealth = Writable | NotWritable;

export interface Writable {
  readonly writable: true;
}

export interface NotWritable {
  readonly writable: false;
  /** RFC 3339, UTC: when the first write failed. */
  readonly since: string;
  /** What happened, with the name of the file. */
  readonly reason: string;
  /** What to do about it. */
  readonly hint: string;
  /** Left out: the ledger. `folder`: the ledger can be written, and other files of the state folder cannot. */
  readonly what?: 'folder';
}

export const WRITABLE: Writable = { writable: true };

/** The health after one more write: a success clears everything, a failure keeps the time of the first one. */
export function healthAfter(
  before: StoreHealth,
  failure: { readonly message: string; readonly hint: string } | undefined,
  at: string,
): StoreHealth {
  if (failure === undefined) return WRITABLE;
  const since = before.writable ? at : before.since;
  return { writable: false, since, reason: failure.message, hint: failure.hint };
}

/** Reads a health from JSON. Anything that does not prove that the store can be written counts as not writable. */
export function parseStoreHealth(value: unknown): StoreHealth {
  const fields: Partial<Record<string, unknown>> = typeof value === 'object' && value !== null ? { ...value } : {};
  if (fields['writable'] === true) return WRITABLE;
  const text = (field: unknown, otherwise: string): string => (typeof field === 'string' ? field : otherwise);
  return {
    writable: false,
    since: text(fields['since'], ''),
    reason: text(fields['reason'], 'the daemon does not say whether the store can be written'),
    hint: text(fields['hint'], 'Restart the daemon: baton down, then baton up'),
    ...(fields['what'] === 'folder' ? { what: 'folder' as const } : {}),
  };
}

/**
 * The process or the machine has run out of something that comes back: descriptors, processes, memory. What failed because of it was not
 * done, and proves nothing: a file that could not be opened may be there.
 */
export function isShortage(error: unknown): boolean {
  return SHORTAGES.has(codeOf(error));
}

/** Nothing can be written: the disk is full or read-only, or it fails. */
export function isDiskFault(error: unknown): boolean {
  return DISK_FAULTS.has(codeOf(error));
}

/** The same for the words of a program or of Node: `spawn git EMFILE`, `No space left on device`. */
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
