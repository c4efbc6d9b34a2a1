import { closeSync, openSync, rmSync, writeSync } from 'node:fs';

/** False if taken. On a full disk throws and leaves no file: a claim that nothing runs looks like a killed process. */
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
