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
