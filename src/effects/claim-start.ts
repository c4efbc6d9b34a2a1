import { mkdirSync, writeFileSync } from 'node:fs';
import type { SupervisedFiles } from './supervised.ts';

/** Takes a start for ourselves, so that no supervisor runs it any more. False where one has it. */
export function claimStart(files: SupervisedFiles, start: number): boolean {
  try {
    mkdirSync(files.folder, { recursive: true, mode: 0o700 });
    writeFileSync(files.taken(start), 'nobody\n', { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
