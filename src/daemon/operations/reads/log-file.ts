import { type FileHandle, open } from 'node:fs/promises';

/** An open log. When a log is cut, another file takes its place. */
export interface OpenLog extends AsyncDisposable {
  readonly handle: FileHandle;
  readonly size: number;
  readonly changedAt: string;
  /** Distinguishes files that had the same path. */
  readonly name: string;
}

/** Undefined if the file does not exist yet. */
export async function openLog(path: string): Promise<OpenLog | undefined> {
  try {
    const handle = await open(path, 'r');
    const { size, ino, mtime } = await handle.stat();
    const changedAt = mtime.toISOString();
    return { handle, size, changedAt, name: String(ino), [Symbol.asyncDispose]: async () => handle.close() };
  } catch {
    return undefined;
  }
}

/** A line of a client may hold the content of a file. A longer line is read in parts, so that no call takes long. */
const MAX_LINE_BYTES = 1024 * 1024;
const FIRST_BLOCK_BYTES = 64 * 1024;
const LINE_BREAK = 10;

export interface Part {
  readonly start: number;
  readonly bytes: Uint8Array;
}

interface PartRange {
  readonly from: number;
  readonly to: number;
  readonly limitBytes: number;
  /** Whether the last line counts even without its line break. */
  readonly isWhole: boolean;
  /** Whether `from` is the end of an earlier part, which may be within a long line. */
  readonly isLineStart?: boolean;
}

/** Reads whole lines from a position: at most `limitBytes`, but at least one line if there is one. */
export async function readLines(log: OpenLog, range: PartRange): Promise<Part> {
  const { to, limitBytes, isWhole } = range;
  const start = range.isLineStart === true ? Math.min(range.from, to) : await alignStart(log, range);
  // Counted from the requested position, so that a part never overlaps the next one.
  const skipped = start - range.from;
  for (
    let length = Math.max(1, Math.min(limitBytes, MAX_LINE_BYTES) - skipped);
    ;
    length = Math.min(4 * length, MAX_LINE_BYTES)
  ) {
    const bytes = await readBytes(log, start, Math.min(start + length, to));
    // Also true if the file was truncated in the meantime.
    const isLast = start + bytes.length >= to || bytes.length < length;
    const end = isLast && isWhole ? bytes.length : bytes.lastIndexOf(LINE_BREAK) + 1;
    if (end > 0) return { start, bytes: bytes.subarray(0, end) };
    if (bytes.length >= MAX_LINE_BYTES) return { start, bytes: bytes.subarray(0, characterEnd(bytes)) };
    if (isLast) return { start, bytes: bytes.subarray(0, 0) };
  }
}

/** Moves a position within a line to the start of the next one. */
async function alignStart(log: OpenLog, { from, to }: PartRange): Promise<number> {
  if (from === 0 || from >= to) return Math.min(from, to);
  for (let at = from - 1, length = 1; at < to && at - from < MAX_LINE_BYTES; at += length, length = FIRST_BLOCK_BYTES) {
    const found = (await readBytes(log, at, Math.min(at + length, to))).indexOf(LINE_BREAK);
    if (found >= 0) return at + found + 1;
  }
  // The position is within a line that is read in parts.
  return to - from > MAX_LINE_BYTES ? from : to;
}

/**
 * Yields blocks of whole lines that end at `to`, each larger than the one before, until one reaches the beginning or
 * the limit.
 */
export async function* readLastLines(
  log: OpenLog,
  { to, limitBytes, isWhole }: Omit<PartRange, 'from'>,
): AsyncGenerator<Part> {
  for (let length = Math.min(FIRST_BLOCK_BYTES, limitBytes); ; length *= 4) {
    const from = Math.max(0, to - length);
    const part = await readLines(log, { from, to, limitBytes: length, isWhole });
    const isEmpty = part.bytes.length === 0;
    const isLargest = from === 0 || length >= MAX_LINE_BYTES;
    // If the block is within one line, there is nothing to show yet.
    if (!isEmpty || isLargest) yield part;
    if (isLargest || (length >= limitBytes && !isEmpty)) return;
  }
}

async function readBytes({ handle }: OpenLog, from: number, to: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(Math.max(0, to - from));
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
  return buffer.subarray(0, bytesRead);
}

/** Returns the end of the last complete UTF-8 character. */
function characterEnd(bytes: Uint8Array): number {
  let end = bytes.length;
  while (end > bytes.length - 4 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  return ((bytes[end - 1] ?? 0) & 0xc0) === 0xc0 ? end - 1 : bytes.length;
}
