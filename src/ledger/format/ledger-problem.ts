import type { Problem } from '../../protocol/shape/problem.ts';

/** A problem of the ledger: its inputs are values and stored bytes, so it has no line and no column. */
export function ledgerProblem(code: string, message: string, hint: string, path = ''): Problem {
  return { code, message, path, line: null, column: null, hint };
}

/** What to do about a ledger that is not what was recorded. */
export const DO_NOT_WRITE = 'Compare it with a backup or an export, and do not write to it before that.';
