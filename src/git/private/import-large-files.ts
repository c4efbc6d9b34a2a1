import { constants, existsSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import { gitFailure, type GitFailure } from '../run-git.ts';
import { openAgentFolder, withAgentFolder } from './agent-files.ts';

/**
 * Copies new Git LFS files of a session into the user's repository. A commit names them only by their SHA-256, so a
 * checkout outside of the sandbox needs them. A file that does not match its name is skipped.
 */
export async function importLargeFiles({ folder, commonDir }: PrivateGit): Promise<GitFailure | undefined> {
  const from = join(folder, 'git');
  const to = join(commonDir, 'lfs', 'objects');
  try {
    for (const way of findFolders(from)) {
      const opened = openAgentFolder(from, way, MOST_FILES);
      if (opened === null) continue;
      try {
        const [first = '', second = ''] = way.slice(-2);
        const names = opened.names.filter((name) => /^[0-9a-f]{64}$/.test(name) && name.startsWith(first + second));
        const target = join(to, first, second);
        for (const name of names.filter((each) => !existsSync(join(target, each))))
          await copyIfItMatches(join(opened.path, name), join(target, name));
      } finally {
        opened.close();
      }
    }
    return undefined;
  } catch (error) {
    const message = `Git LFS files of '${folder}' cannot be copied to '${to}': ${String(error)}`;
    return gitFailure('git/disk', message, 'Free space on that disk, or make it writable; then try again.');
  }
}

/** The folders of objects: `lfs/objects/ab/cd`. */
function findFolders(gitDir: string): string[][] {
  const namesIn = (way: readonly string[]): readonly string[] =>
    withAgentFolder(gitDir, way, MOST_FILES, ({ names }) => names.filter((name) => /^[0-9a-f]{2}$/.test(name))) ?? [];
  const top = ['lfs', 'objects'];
  return namesIn(top).flatMap((first) => namesIn([...top, first]).map((second) => [...top, first, second]));
}

async function copyIfItMatches(from: string, to: string): Promise<void> {
  const { createHash } = await import('node:crypto');
  const source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (source === null) return;
  const temporary = join(dirname(to), `.baton-${process.pid}`);
  try {
    if (!(await source.stat()).isFile()) return;
    await mkdir(dirname(to), { recursive: true });
    await using copy = await open(temporary, 'w', 0o444);
    const hash = createHash('sha256');
    for await (const chunk of source.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      await copy.writeFile(chunk);
    }
    if (to.endsWith(hash.digest('hex'))) await rename(temporary, to);
  } finally {
    await source.close();
    await rm(temporary, { force: true });
  }
}

const MOST_FILES = 10_000;
