import { randomUUID } from 'node:crypto';
import { closeSync, constants, existsSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Writes a file below a folder in which a session works, without following links, because the session could point one
 * anywhere. Anything in place of a folder is removed. Each folder is opened and used through its descriptor, so that
 * the session cannot replace it in between.
 */
export function writeBelow(folder: string, path: string, text: string | Uint8Array, mode = 0o600): void {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  const last = names.pop();
  if (last === undefined || names.includes('..') || last === '..')
    throw new Error(`not a path below a folder: ${path}`);
  let open = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    let place = placeOf(open, folder);
    for (const name of names) {
      const next = openFolder(`${place}/${name}`);
      closeSync(open);
      open = next;
      place = placeOf(open, `${place}/${name}`);
    }
    // The draft is new, and the rename replaces a link instead of following it.
    const draft = `${place}/.${randomUUID()}`;
    writeFileSync(draft, text, { flag: 'wx', mode });
    if (isFolder(`${place}/${last}`)) rmSync(`${place}/${last}`, { recursive: true, force: true });
    renameSync(draft, `${place}/${last}`);
  } finally {
    closeSync(open);
  }
}

/** Without `/proc` no sandbox has a writable folder of this kind either. */
function placeOf(descriptor: number, path: string): string {
  return existsSync('/proc/self/fd') ? `/proc/self/fd/${descriptor}` : path;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

function openFolder(path: string): number {
  for (let tries = 0; ; tries += 1) {
    try {
      return openSync(path, FOLDER);
    } catch (error) {
      if (tries === TRIES) throw error;
      rmSync(path, { force: true });
      try {
        mkdirSync(path, { mode: 0o755 });
      } catch {
        // The session was faster. The next round opens what exists now.
      }
    }
  }
}

function isFolder(path: string): boolean {
  try {
    closeSync(openSync(path, FOLDER));
    return true;
  } catch {
    return false;
  }
}

const TRIES = 5;
