import { readSync, writeSync } from 'node:fs';

/** Twice the largest input of a hook. */
const MAX_INPUT_BYTES = 8 * 1024 * 1024;

/** Reads a hook's standard input to its end. Unreadable input counts as empty. */
export function readStdin(): Buffer {
  const pieces: Buffer[] = [];
  for (let bytes = 0; bytes <= MAX_INPUT_BYTES;) {
    const piece = Buffer.allocUnsafe(65_536);
    let read: number;
    try {
      read = readSync(0, piece);
    } catch (error) {
      if (!waitIfBusy(error)) break;
      continue;
    }
    if (read === 0) break;
    pieces.push(piece.subarray(0, read));
    bytes += read;
  }
  return Buffer.concat(pieces);
}

/** Writes synchronously and completely, so that the text is out even if the process is killed next. */
export function writeStdout(text: string): void {
  for (let bytes = Buffer.from(text); bytes.length > 0;) {
    try {
      bytes = bytes.subarray(writeSync(1, bytes));
    } catch (error) {
      // Any other error means that the reader has closed the pipe.
      if (!waitIfBusy(error)) return;
    }
  }
}

/** Waits if a pipe in non-blocking mode is empty or full. Returns false for any other error. */
function waitIfBusy(error: unknown): boolean {
  const isBusy = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
  if (isBusy) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
  return isBusy;
}
