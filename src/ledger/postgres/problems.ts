import { DatabaseError } from 'pg';
import { DO_NOT_WRITE, ledgerProblem } from '../format/limits.ts';
import { StoreProblem } from '../store.ts';

/** Thrown by reads and returned by `append`: the store cannot work, and the problem states why. */
export class PostgresProblem extends StoreProblem {
  override readonly name = 'PostgresProblem';
}

/** Whether the connection was lost or must not be reused, as opposed to a refusal by the server. */
export function isConnectionLoss(error: unknown): boolean {
  if (error instanceof DatabaseError) return LOSS_CODES.has(error.code ?? '') || (error.code ?? '').startsWith('08');
  // Retrying helps neither against mistakes of this program nor against an untrusted certificate.
  return (
    error instanceof Error &&
    !isCertificateRefused(error) &&
    !(error instanceof PostgresProblem || error instanceof TypeError || error instanceof RangeError)
  );
}

/** Shutdown, crash, start-up and too many connections are temporary, as is a standby, which cannot be written to. */
const LOSS_CODES = new Set(['57P01', '57P02', '57P03', '53300', '25006']);

export function serverUnavailable(cause: unknown): PostgresProblem {
  const message = `PostgreSQL does not answer: ${reasonOf(cause)}`;
  const hint = 'Check that the server of `store` runs and can be reached; Baton continues when it is back.';
  return new PostgresProblem(ledgerProblem('ledger/unavailable', message, hint), cause);
}

export function storeClosed(): PostgresProblem {
  return new PostgresProblem(ledgerProblem('ledger/closed', 'the store is closed', 'Open it again.'));
}

export function rolledBack(size: number): PostgresProblem {
  const message = `entry ${size}, which existed before, is missing or different: a standby that had not received everything was promoted, or a backup was restored`;
  return new PostgresProblem(ledgerProblem('ledger/rolled-back', message, DO_NOT_WRITE));
}

export function newerLedger(found: number, known: number): PostgresProblem {
  const message = `the database was written by a newer Baton (format ${found}, this one knows ${known})`;
  return new PostgresProblem(ledgerProblem('ledger/newer-ledger', message, 'Update Baton.'));
}

/** A temporary problem like `ledger/unavailable`: agents' calls are kept in the outbox and sent again. */
export function recovering(): PostgresProblem {
  const message = 'PostgreSQL was restarted or replaced, and the hosts have not compared their replicas with it yet';
  const hint = 'Baton continues once the daemons have compared them: see baton status --fleet.';
  return new PostgresProblem(ledgerProblem('ledger/recovering', message, hint));
}

export function forked(message: string): PostgresProblem {
  const hint = 'Nothing was changed. See where they differ: baton store compare. Then decide: baton store accept.';
  return new PostgresProblem(ledgerProblem('ledger/forked', message, hint));
}

export function databaseReplaced(project: string): PostgresProblem {
  const message = `the database was created again, and the project ${project} has another number in it`;
  const hint =
    'Restart the daemon: baton down, then baton up. The hosts restore the missing entries from their replicas.';
  return new PostgresProblem(ledgerProblem('ledger/replaced', message, hint));
}

export function schemaMissing(found: number, needed: number, cause: unknown): PostgresProblem {
  const state =
    found === 0 ? 'has no schema baton' : `has the schema baton of format ${found}, and ${needed} is needed`;
  const message = `the database ${state}; the role in \`store\` may not change it`;
  const hint = 'As the owner of the database, run: baton store init URL';
  return new PostgresProblem(ledgerProblem('ledger/cannot-open', message, hint), cause);
}

export function behindPooler(): PostgresProblem {
  const message = 'this is a pooler, not PostgreSQL itself: prepared statements, settings and LISTEN would be lost';
  const hint = 'Connect to the server directly, or to a pooler in session mode with ?pooler=session in the URL.';
  return new PostgresProblem(ledgerProblem('store/pooler', message, hint));
}

function isCertificateRefused(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(?:CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT|HOSTNAME_MISMATCH)/.test(code);
}

export function translateServerError(error: unknown): unknown {
  if (isCertificateRefused(error)) {
    const message = `the certificate of the server is not trusted: ${reasonOf(error)}`;
    const hint = 'Name its authority and its host in `store`: ?sslmode=verify-full&sslrootcert=FILE';
    return new PostgresProblem(ledgerProblem('ledger/cannot-open', message, hint), error);
  }
  if (!(error instanceof DatabaseError)) return error;
  const [code, hint] = REFUSALS[error.code ?? ''] ?? ['ledger/cannot-write', 'Check the log of the PostgreSQL server.'];
  return new PostgresProblem(ledgerProblem(code, `PostgreSQL refused: ${error.message}`, hint), error);
}

function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join('; ');
  return cause instanceof Error && cause.message !== '' ? cause.message : String(cause);
}

const REFUSALS: Readonly<Record<string, readonly [code: string, hint: string]>> = {
  '53100': ['ledger/disk-full', 'Free space on the disk of the PostgreSQL server; recording continues by itself.'],
  '28P01': ['ledger/cannot-open', 'Check user and password in `store`.'],
  '28000': ['ledger/cannot-open', 'Check user and password in `store`, and pg_hba.conf of the server.'],
  '3D000': ['ledger/cannot-open', 'Create the database that `store` names.'],
  '42501': ['ledger/cannot-open', 'As the owner of the database, run: baton store init URL'],
  BT001: ['fleet/name-taken', 'Give this machine another name: set BATON_HOST, then baton host join again.'],
  // Entries beyond the head already existed, which never happens in an intact ledger.
  '23505': ['ledger/damaged', 'Run: baton ledger verify'],
  XX001: ['ledger/damaged', 'Run: baton ledger verify'],
  XX002: ['ledger/damaged', 'Run: baton ledger verify'],
};
