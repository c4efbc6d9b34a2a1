import { DatabaseError } from 'pg';
import type { Problem } from '../../protocol/problem.ts';
import { ledgerProblem } from '../ledger-problem.ts';

/** Thrown by reads, given back by `append`: the store cannot do its work, and the problem says why. */
export class PostgresProblem extends Error {
  override readonly name = 'PostgresProblem';
  readonly problem: Problem;

  constructor(problem: Problem, cause?: unknown) {
    super(problem.message, { cause });
    this.problem = problem;
  }
}

const UNAVAILABLE = 'ledger.server_away';

/** Whether the connection went away (or must not be used any more), as opposed to a refusal by the server. */
export function isConnectionLoss(error: unknown): boolean {
  if (error instanceof DatabaseError)
    return LOSS_CODES.has(error.code ?? '') || (error.code ?? '').startsWith('08');
  if (error instanceof PostgresProblem) return false;
  // Mistakes of this program are not to be tried again until patience ends.
  return error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError);
}

export function unavailable(cause: unknown): PostgresProblem {
  const message = `PostgreSQL does not answer: ${reasonOf(cause)}`;
  const hint =
    'Check that the server of `store` runs and can be reached; Baton goes on by itself when it is back.';
  return new PostgresProblem(ledgerProblem('server_away', message, hint), cause);
}

export function closed(): PostgresProblem {
  return new PostgresProblem(ledgerProblem('store_closed', 'The store is closed.', 'Open it again.'));
}

export function rolledBack(size: number): PostgresProblem {
  const message = `PostgreSQL has lost entries: entry ${size} was there before the connection broke, and is not any more.`;
  const hint =
    'A standby that had not received everything was promoted, or a backup was restored. Run: baton ledger verify';
  return new PostgresProblem(ledgerProblem('rolled_back', message, hint));
}

/** What is not a loss, in the ledger's words where the server said it, else as it is. */
export function toProblem(error: unknown): unknown {
  return error instanceof DatabaseError ? refusedByServer(error) : error;
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof PostgresProblem && error.problem.code === UNAVAILABLE;
}

function refusedByServer(error: DatabaseError): PostgresProblem {
  const place = error.table === undefined ? '' : ` (${error.table})`;
  const [code, hint] = CODES[error.code ?? ''] ?? [
    'store_failed',
    'Look into the log of the PostgreSQL server.',
  ];
  return new PostgresProblem(
    ledgerProblem(code, `PostgreSQL refused: ${error.message}${place}`, hint),
    error,
  );
}

function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join('; ');
  return cause instanceof Error && cause.message !== '' ? cause.message : String(cause);
}

/** Shutting down, crashed, starting up, or too many connections: all of them pass. A standby cannot be written to. */
const LOSS_CODES = new Set(['57P01', '57P02', '57P03', '53300', '25006']);

const VERIFY = 'Run: baton ledger verify';
const CODES: Readonly<Record<string, readonly [code: string, hint: string]>> = {
  '53100': ['disk_full', 'Make room on the disk of the PostgreSQL server; nothing was written.'],
  '53200': ['store_failed', 'The PostgreSQL server is out of memory; nothing was written.'],
  '28P01': ['store_unavailable', 'Check user and password in `store`.'],
  '28000': ['store_unavailable', 'Check user and password in `store`, and pg_hba.conf of the server.'],
  '3D000': ['store_unavailable', 'Create the database that `store` names.'],
  '42501': ['store_unavailable', 'Give the user in `store` the right to create and use the schema baton.'],
  '23505': ['damaged', VERIFY],
  XX000: ['damaged', VERIFY],
  XX001: ['damaged', VERIFY],
  XX002: ['damaged', VERIFY],
};
