/**
 * Whether a project's store can be written. The same value appears in `status_get` (`store`), in `/v1/health` (`stores`), and in every
 * surface that reports that all is well.
 */
export type StoreHealth = Writable | NotWritable;

export interface Writable {
  readonly writable: true;
}

export interface NotWritable {
  readonly writable: false;
  /** RFC 3339, UTC: when the first write failed. */
  readonly since: string;
  /** The error, with the name of the file. */
  readonly reason: string;
  /** What to do about it. */
  readonly hint: string;
  /** `folder`: the ledger can be written, but other files of the state folder cannot. Missing: the ledger cannot. */
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

/**
 * Whether the process or the machine has run out of a resource that becomes free again: descriptors, processes, memory. The failed call
 * had no effect and proves nothing: a file that could not be opened may exist.
 */
export function isShortage(error: unknown): boolean {
  return SHORTAGES.has(codeOf(error));
}

/** Whether nothing can be written, because the disk is full, read-only or broken. */
export function isDiskFault(error: unknown): boolean {
  return DISK_FAULTS.has(codeOf(error));
}

/** The same for an error message of a program or of Node, such as `spawn git EMFILE`. */
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
