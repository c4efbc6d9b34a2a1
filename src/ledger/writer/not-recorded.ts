import type { Problem } from '../../protocol/shape/problem.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../format/ledger-problem.ts';
import { LEDGER_LIMITS } from '../format/limits.ts';
import { StoreProblem } from '../store-problem.ts';
import type { Head } from '../store.ts';

// Why a ledger records nothing: for now, or never again.

export function ledgerClosed(): Problem {
  return ledgerProblem('ledger/closed', 'the ledger is closed', 'Open it again.');
}

export function headMissing(head: Head): Problem {
  return ledgerProblem(
    'ledger/rolled-back',
    `entry ${head.size}, which was recorded, is missing or another one: the store was rolled back`,
    DO_NOT_WRITE,
  );
}

export function queueFull(): Problem {
  return ledgerProblem(
    'ledger/too-much',
    `more than ${LEDGER_LIMITS.draftsPerAppend} drafts in one call, or ${LEDGER_LIMITS.waitingCallers} callers waiting`,
    'Record in smaller groups, and wait for the answers.',
  );
}

export function appendUnavailable(error: unknown): { readonly ok: false; readonly problem: Problem } {
  if (error instanceof StoreProblem) return { ok: false, problem: error.problem };
  const what = error instanceof Error ? error.message : String(error);
  const hint = 'Nothing is lost: try again when the store is back.';
  return { ok: false, problem: ledgerProblem('ledger/unavailable', `the store does not answer: ${what}`, hint) };
}

export function unexpectedFailure(error: unknown): Problem {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return ledgerProblem('ledger/unexpected', `the ledger has stopped: ${what}`, 'This is a mistake in Baton.');
}
