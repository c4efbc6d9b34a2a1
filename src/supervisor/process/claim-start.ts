import { closeSync, openSync, rmSync, writeSync } from 'node:fs';

/**
 * Takes one start of a process: only one caller can make the file. Returns false if another one has it. Throws if there is no room for the file,
 * and leaves none behind: a start that is taken and that nobody runs looks like a process that was killed.
 */
export function claimStartFile(path: string, by: string): boolean {
  const file = openNew(path);
  if (file === undefined) return false;
  try {
    writeSync(file, by);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return true;
}

function openNew(path: string): number | undefined {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
    throw error;
  }
}
