import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { FileChangeSignal } from '../../api/file-change-signal.ts';

export interface FollowFileOptions {
  /** Ends the generator when everything written so far is read. */
  readonly signal: AbortSignal;
  /** Start offset in bytes. */
  readonly from?: number;
  /** Ends after the current content. */
  readonly once?: boolean;
  /** Lets the caller report changes too. */
  readonly bell?: FileChangeSignal;
}

/**
 * Yields the bytes of a log as they are written, without polling. A log that was cut is a new file, in which reading
 * resumes after the cut.
 */
export async function* followFile(path: string, options: FollowFileOptions): AsyncGenerator<Buffer, void> {
  const { bell = new FileChangeSignal(path) } = options;
  const onAbort = (): void => bell.ring();
  options.signal.addEventListener('abort', onAbort, { once: true });
  let reader: Reader | undefined;
  try {
    for (;;) {
      const isLast = options.signal.aborted || options.once === true;
      if (options.once !== true) bell.listen();
      reader ??= openReader(path, options.from ?? 0);
      if (reader !== undefined) {
        yield* readNewBytes(reader);
        const next = reopenIfReplaced(reader, path);
        if (next !== undefined) {
          closeSync(reader.file);
          reader = next;
          continue;
        }
      }
      if (isLast) return;
      await bell.wait();
    }
  } finally {
    options.signal.removeEventListener('abort', onAbort);
    bell.close();
    if (reader !== undefined) closeSync(reader.file);
  }
}

interface Reader {
  readonly file: number;
  readonly inode: number;
  at: number;
}

function openReader(path: string, from: number): Reader | undefined {
  try {
    const file = openSync(path, 'r');
    return { file, inode: fstatSync(file).ino, at: from };
  } catch {
    // The file does not exist yet.
    return undefined;
  }
}

function* readNewBytes(reader: Reader): Generator<Buffer> {
  if (fstatSync(reader.file).size < reader.at) reader.at = 0;
  for (;;) {
    const buffer = Buffer.allocUnsafe(65_536);
    const read = readSync(reader.file, buffer, 0, buffer.length, reader.at);
    if (read === 0) return;
    reader.at += read;
    yield buffer.subarray(0, read);
  }
}

function reopenIfReplaced(reader: Reader, path: string): Reader | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.ino === reader.inode) return undefined;
  const next = openReader(path, 0);
  if (next !== undefined) next.at = resumeAfterCut(readFileSync(next.file));
  return next;
}

/** A cut log keeps its start, a line that reports the cut, and as many bytes again from its end. New output follows. */
export function resumeAfterCut(bytes: Buffer): number {
  const mark = /\n\[baton: \d+ bytes of output were cut here\]\n/.exec(bytes.toString('latin1'));
  return mark === null ? 0 : Math.min(bytes.length, mark.index + mark[0].length + mark.index);
}
