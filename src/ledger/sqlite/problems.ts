import type { Problem } from '../../protocol/problem.ts';
import { ledgerProblem } from '../ledger-problem.ts';

const SQLITE_IOERR = 10;
const SQLITE_FULL = 13;

/** What SQLite says when it cannot write, in words that name the next thing to do. */
export function writeProblem(path: string, error: unknown): Problem {
  const what = error instanceof Error ? error.message : String(error);
  if (isFull(error)) {
    return ledgerProblem(
      'ledger/disk-full',
      `there is no room to write ${path}: ${what}`,
      'Make room on that disk; recording goes on by itself.',
    );
  }
  return ledgerProblem(
    'ledger/cannot-write',
    `${path} cannot be written: ${what}`,
    'Check the disk and who owns the file.',
  );
}

/** The file that is open is not the one of that name any more. */
export function replaced(path: string): Problem {
  return ledgerProblem(
    'ledger/replaced',
    `${path} was removed, or replaced by another file, while Baton has it open`,
    'Put it back, and recording goes on. To go on with another one: baton down, then see what baton ledger verify says.',
  );
}

/** A file size limit reaches SQLite as an error of input and output, not as a full disk. */
function isFull(error: unknown): boolean {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return false;
  const code = error.errcode % 256;
  return code === SQLITE_FULL || code === SQLITE_IOERR;
}
