import { createHash, type Hash } from 'node:crypto';
import { constants, createReadStream, type Stats } from 'node:fs';
import { lstat, open, readdir, readlink, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

/**
 * Reads a file from a folder that agents write. Guards against links to private files, pipes and huge files. Undefined
 * if missing.
 */
export async function readInside(folder: string, path: string, mostBytes: number): Promise<Buffer | undefined> {
  try {
    const [inside, real] = await Promise.all([realpath(folder), realpath(join(folder, path))]);
    if (!real.startsWith(inside + sep)) return undefined;
    await using file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    // A running agent may have replaced a folder by a link in the meantime.
    const opened = await readlink(`/proc/self/fd/${file.fd}`).catch(() => real);
    const stat = await file.stat();
    if (!stat.isFile() || opened !== real) return undefined;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(stat.size, mostBytes)));
    return buffer.subarray(0, bytesRead);
  } catch {
    return undefined;
  }
}

/** A digest of a file, a link or a folder with its names; null if the path does not exist. */
export async function readDigest(path: string): Promise<string | null> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return null;
  const hash = createHash('sha256');
  await add(hash, path, '', found);
  return hash.digest('hex');
}

async function add(hash: Hash, path: string, name: string, stats: Stats): Promise<void> {
  if (stats.isDirectory()) {
    hash.update(`folder ${name}\0`);
    for (const entry of (await readdir(path)).toSorted()) {
      const inner = join(path, entry);
      await add(hash, inner, `${name}/${entry}`, await lstat(inner));
    }
  } else if (stats.isSymbolicLink()) hash.update(`link ${name}\0${await readlink(path)}\0`);
  else if (stats.isFile()) {
    hash.update(`file ${name}\0${stats.size}\0`);
    for await (const chunk of createReadStream(path)) hash.update(chunk);
  } else hash.update(`other ${name}\0`);
}

/** A dangling link counts. */
export async function pathExists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}
