import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

/**
 * The beginning of a file in a folder that agents write in; undefined where there is none. They can put anything there: a link that leads
 * out to what only we may read, a pipe at which a reader waits for ever, a file of any size.
 */
export async function readInside(folder: string, path: string, mostBytes: number): Promise<Buffer | undefined> {
  try {
    const [inside, real] = await Promise.all([realpath(folder), realpath(join(folder, path))]);
    if (!real.startsWith(inside + sep)) return undefined;
    await using file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stat = await file.stat();
    if (!stat.isFile()) return undefined;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(stat.size, mostBytes)));
    return buffer.subarray(0, bytesRead);
  } catch {
    return undefined;
  }
}
