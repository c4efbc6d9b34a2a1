import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** The whole lines in the last part of a file, however long it is. A file that cannot be read has none. */
export function readLastLines(path: string, maxBytes = 256 * 1024): readonly string[] {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return [];
  }
  try {
    const { size } = fstatSync(file);
    const start = Math.max(0, size - maxBytes);
    const bytes = Buffer.alloc(size - start);
    const text = bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, start));
    const lines = text.split('\n');
    // The first line may have lost its beginning, the last has no end yet.
    return lines.slice(start > 0 ? 1 : 0, -1);
  } finally {
    closeSync(file);
  }
}
