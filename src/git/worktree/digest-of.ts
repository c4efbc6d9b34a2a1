import { createHash, type Hash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** A digest of a file, a link or a whole folder, names included; null where nothing is there. */
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
