import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** The whole lines in the first part of a file, however long it is. A file that cannot be read has none. */
export function readFirstLines(path: string, maxBytes = MAX_BYTES): readonly string[] {
  const { text } = readPart(path, () => 0, maxBytes);
  // The last line may have no end yet.
  return text.split('\n').slice(0, -1);
}

/** The same in the last part. */
export function readLastLines(path: string, maxBytes = MAX_BYTES): readonly string[] {
  const { text, start } = readPart(path, (size) => Math.max(0, size - maxBytes), maxBytes);
  // The first line may have lost its beginning, the last has no end yet.
  return text.split('\n').slice(start > 0 ? 1 : 0, -1);
}

const MAX_BYTES = 256 * 1024;

function readPart(path: string, startOf: (size: number) => number, maxBytes: number): { text: string; start: number } {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return { text: '', start: 0 };
  }
  try {
    const { size } = fstatSync(file);
    const start = startOf(size);
    const bytes = Buffer.alloc(Math.min(maxBytes, size - start));
    return { text: bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, start)), start };
  } finally {
    closeSync(file);
  }
}
