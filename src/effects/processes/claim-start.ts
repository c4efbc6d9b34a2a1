import { mkdirSync } from 'node:fs';
import { claimStartFile } from '../../supervisor/process/claim-start.ts';
import type { SupervisedFiles } from './supervised.ts';

/** Takes a start for ourselves, so that no supervisor runs it any more. Returns false if one has it. */
export function preventStart(files: SupervisedFiles, start: number): boolean {
  mkdirSync(files.folder, { recursive: true, mode: 0o700 });
  return claimStartFile(files.taken(start), 'nobody\n');
}
