import { closeSync, openSync, readSync } from 'node:fs';

/** The whole lines in the first part of a file, however long it is. A file that cannot be read has none. */
export function readFirstLines(path: string, maxBytes = 256 * 1024): readonly string[] {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return [];
  }
  try {
    const bytes = Buffer.alloc(maxBytes);
    const text = bytes.toString('utf8', 0, readSync(file, bytes, 0, maxBytes, 0));
    // The last line may have no end yet.
    return text.split('\n').slice(0, -1);
  } finally {
    closeSync(file);
  }
}
