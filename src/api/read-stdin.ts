import { readSync } from 'node:fs';

/** Twice the largest input of a hook. */
const MAX_INPUT_BYTES = 8 * 1024 * 1024;

/** Reads a hook's standard input to its end. Input that cannot be read counts as empty. */
export function readStdin(): Buffer {
  const pieces: Buffer[] = [];
  for (let bytes = 0; bytes <= MAX_INPUT_BYTES;) {
    const piece = Buffer.allocUnsafe(65_536);
    let read: number;
    try {
      read = readSync(0, piece);
    } catch (error) {
      if (!isTryAgain(error)) break;
      pauseBriefly();
      continue;
    }
    if (read === 0) break;
    pieces.push(piece.subarray(0, read));
    bytes += read;
  }
  return Buffer.concat(pieces);
}

/** Whether a pipe in non-blocking mode is empty or full at the moment. */
export function isTryAgain(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

export function pauseBriefly(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
}
