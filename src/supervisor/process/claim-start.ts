import { closeSync, openSync, rmSync, writeSync } from 'node:fs';

/**
 * Claims one start of a process by creating the file exclusively. Returns false if another process has it. Throws if
 * the disk is full, and then leaves no file: a claimed start that nothing runs would look like a killed process.
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
