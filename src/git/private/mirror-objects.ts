import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openAgentFolder, withAgentFolder } from './agent-files.ts';

/**
 * Links the object files of an agent's object folder into a folder of Baton. Git then reads a folder with only regular
 * files, which the agent cannot change: no alternates, links or pipes. The bytes are still the agent's, so the receiver
 * must hash them.
 */
export async function mirrorObjects(from: string, to: string): Promise<void> {
  mkdirSync(join(to, 'pack'), { recursive: true, mode: 0o700 });
  const top = openAgentFolder(from, [], MOST_NAMES);
  if (top === null) return;
  try {
    const folders = top.names.filter((name) => /^[0-9a-f]{2}$/.test(name));
    for (const gone of readdirSync(to).filter((name) => name !== 'pack' && !folders.includes(name)))
      rmSync(join(to, gone), { recursive: true, force: true });
    for (const [index, name] of folders.entries()) {
      mirrorFolder(top.path, name, to, LOOSE);
      if (index % 8 === 7) await nextTurn();
    }
    mirrorFolder(top.path, 'pack', to, PACKS);
  } finally {
    top.close();
  }
}

function mirrorFolder(from: string, name: string, top: string, wanted: RegExp): void {
  withAgentFolder(from, [name], MOST_NAMES, (folder) => {
    const to = join(top, name);
    mkdirSync(to, { recursive: true, mode: 0o700 });
    const there = new Set(readdirSync(to));
    const names = new Set(folder.names.filter((file) => wanted.test(file)));
    // A pack's index is useful only if the pack exists.
    const ordered = [...names].toSorted((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')));
    for (const file of ordered) if (!there.has(file)) addFile(join(folder.path, file), join(to, file));
    for (const file of there) if (!names.has(file)) rmSync(join(to, file), { force: true });
  });
}

/** A hard link of a symbolic link is a symbolic link, so the check comes after it. */
function addFile(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // Another user's file cannot be linked. A missing one was removed in the meantime.
    copyRegularFile(from, to);
  }
  if (lstatSync(to, { throwIfNoEntry: false })?.isFile() === false) rmSync(to, { force: true, recursive: true });
}

function copyRegularFile(from: string, to: string): void {
  let file: number | undefined;
  try {
    file = openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (fstatSync(file).isFile()) copyFileSync(`/proc/self/fd/${file}`, to);
  } catch {
    // Git reports a missing object if it needs it.
    rmSync(to, { force: true });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const LOOSE = /^(?:[0-9a-f]{38}|[0-9a-f]{62})$/;
const PACKS = /^pack-(?:[0-9a-f]{40}|[0-9a-f]{64})\.(?:pack|idx)$/;
const MOST_NAMES = 200_000;
