import type { Problem } from '../../protocol/shape/problem.ts';
import { Ledger, type LedgerOptions } from './ledger.ts';
import { recognizeLedger } from './recognize.ts';
import { StoreProblem } from '../store-problem.ts';
import { createKeyAddedDraft } from '../verify/keyring.ts';

export type OpenedLedger =
  | { readonly ok: true; readonly ledger: Ledger }
  | { readonly ok: false; readonly problem: Problem };

/**
 * Opens a ledger for writing. It must be the one that was here before, and right since then; otherwise the answer says
 * what is wrong, and nothing is changed. A new ledger begins with the entry that makes this machine's key trusted.
 */
export async function openLedger(options: LedgerOptions): Promise<OpenedLedger> {
  const { store, project, verifier, signer, outside } = options;
  const found = { store, project, verifier, signer, outside: outside.read() };
  const recognized = await recognizeLedger(found).catch(storeProblemOf);
  if (!recognized.ok) return recognized;
  const ledger = new Ledger(options, recognized.position, recognized.keyring);
  if (ledger.head.size > 0) return { ok: true, ledger };
  const first = await ledger.append([createKeyAddedDraft(verifier.sha256, project, signer, 'system:ledger')]);
  if (first.ok) return { ok: true, ledger };
  // Somebody else has begun it in the meantime, with another key.
  return 'conflict' in first ? openLedger(options) : first;
}

function storeProblemOf(error: unknown): { readonly ok: false; readonly problem: Problem } {
  if (error instanceof StoreProblem) return { ok: false, problem: error.problem };
  throw error;
}
