import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that Linux keeps in memory. */
const MEMORY = '/dev/shm';
/** The file system's type, from `statfs(2)`. */
const TMPFS = 0x01_02_19_94;
/** A run uses less than 1 GB; the rest is for tests that leave their files. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

/**
 * The folder for the tests' repositories and state folders. Tests create and delete a hundred thousand small files and
 * sync many of them: in memory this takes a third less CPU time than on a disk, without waiting. If TMPDIR is set, it
 * is used.
 */
export function temporaryFolder(): string {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return tmpdir();
  for (const name of globSync('baton-+([0-9])', { cwd: MEMORY })) removeIfOld(join(MEMORY, name));
  const folder = join(MEMORY, `baton-${process.pid}`);
  // PostgreSQL runs as another user that may enter this folder, but not list it.
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Removes the folder of an earlier run that was killed. */
function removeIfOld(folder: string): void {
  const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? { mtimeMs: Infinity };
  if (Date.now() - mtimeMs > DAY_MS) rmSync(folder, { recursive: true, force: true });
}

const DAY_MS = 86_400_000;

function hasRoom(): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY);
    return type === TMPFS && bavail * bsize > ENOUGH_BYTES && canExecute();
  } catch {
    return false;
  }
}

/**
 * Reports whether programs in the folder can be started: some systems mount it without that permission, and tests start
 * programs that they wrote.
 */
function canExecute(): boolean {
  const folder = mkdtempSync(join(MEMORY, 'baton-'));
  try {
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    return spawnSync(program).status === 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
