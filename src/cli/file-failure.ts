/** Why a file cannot be read or written, in words; what the system calls it where there are none. */
export function describeFileError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ('code' in error ? REASONS.get(String(error.code)) : undefined) ?? error.message;
}

/** What went wrong and where, for a failure that nobody has expected: the path counts, not the name of the system call. */
export function describeError(error: unknown): string {
  const reason = describeFileError(error);
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : undefined;
  return path === undefined || (error instanceof Error && reason === error.message)
    ? reason
    : `cannot use ${path}: ${reason}`;
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file or folder'],
  ['ENOTDIR', 'a part of the path is no folder'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'it cannot be written to: the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
]);
