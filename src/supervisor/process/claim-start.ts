import { closeSync, openSync, rmSync, writeSync } from 'node:fs';

/**
 * Claims a start; false if it is taken. Throws on a full disk and leaves no file, since a claim without a process looks
 * like a killed process.
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
