import { readSync } from 'node:fs';
import { join } from 'node:path';
import { gitFields } from '../../git/run-git.ts';
import { readRegular } from '../../streams/file-lines.ts';
import type { Listing } from './detect/toolchain.ts';

/** Lists everything that git does not ignore, committed or not. A pipe or a huge file reads as empty. */
export async function readListing(top: string): Promise<Listing> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = await gitFields(args, { cwd: top, maxBytes: MAX_LIST_BYTES });
  const paths = new Set(listed.ok ? listed.value : []);
  return { paths, read: (path) => (paths.has(path) ? readText(join(top, path)) : '') };
}

function readText(path: string): string {
  const text = readRegular(path, (file, size) => {
    if (size > MAX_FILE_BYTES) return '';
    const bytes = Buffer.alloc(size);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, size, 0));
  });
  // Editors on Windows start a file with a byte order mark, which parsers refuse.
  return (text ?? '').replace(/^\u{FEFF}/u, '');
}

const MAX_LIST_BYTES = 64 * 1024 * 1024;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
