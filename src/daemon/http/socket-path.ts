import { mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readDaemonRecord, stateFiles } from '../../api/state-folder.ts';

/** Paths of sockets end at about 104 bytes. A state folder with a longer one gets its socket in a folder of its own elsewhere. */
export function makeSocketPath(stateDir: string): string {
  const { socket } = stateFiles(stateDir);
  const before = readDaemonRecord(stateDir)?.socket;
  // The lock of the folder is held: whatever socket is still there belongs to a daemon that died.
  rmSync(socket, { force: true });
  if (before !== undefined) removeSocketFolder(before);
  return Buffer.byteLength(socket) <= MAX_SOCKET_PATH ? socket : join(mkdtempSync(join(tmpdir(), 'baton-')), 's');
}

/** Removes a socket that lies elsewhere, and the folder made for it alone: with anything else in it, it is not that folder. */
export function removeSocketFolder(socket: string): void {
  if (!/\/baton-[A-Za-z0-9]{6}\/s$/.test(socket)) return;
  try {
    rmSync(socket, { force: true });
    rmdirSync(dirname(socket));
  } catch {
    // Gone already, or not ours.
  }
}

const MAX_SOCKET_PATH = 100;
