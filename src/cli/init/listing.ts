import { join } from 'node:path';
import { readFileIfPresent } from '../../api/files.ts';
import { gitFields } from '../../git/run-git.ts';
import type { Listing } from './detect/toolchain.ts';

/** Everything that git does not ignore, committed or not. */
export async function readListing(top: string): Promise<Listing> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = await gitFields(args, { cwd: top, maxBytes: MAX_BYTES });
  const paths = new Set(listed.ok ? listed.value : []);
  return { paths, read: (path) => (paths.has(path) ? readFileIfPresent(join(top, path)) : '') };
}

const MAX_BYTES = 64 * 1024 * 1024;
