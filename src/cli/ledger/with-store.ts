import type { SqliteStore } from '../../ledger/sqlite/sqlite-store.ts';
import { isStoreUnavailable } from '../../ledger/store.ts';
import type { LedgerPlace } from '../../ledger/writer/ledger-files.ts';
import { openStoreAt } from '../../ledger/writer/open.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { EXIT, type Io, type ParsedArguments } from '../command.ts';
import { printable } from '../text.ts';
import { findLedger } from './find-ledger.ts';

/** Opens the project's ledger for reading, hands it over, and closes it whatever happens. */
export async function withStore(
  given: ParsedArguments,
  io: Io,
  use: (store: SqliteStore, place: LedgerPlace) => Promise<number>,
): Promise<number> {
  const found = await findLedger(given, io);
  if (!found.ok) return reportProblem(found.problem, io);
  const opened = await openStoreAt(found.place);
  if (!opened.ok) return reportProblem(opened.problem, io, exitCodeOf(opened.problem));
  try {
    return await use(opened.store, found.place);
  } catch (error) {
    if (!isStoreUnavailable(error)) throw error;
    return reportProblem(error.problem, io);
  } finally {
    await opened.store.close();
  }
}

/** Refusals that say that this is not the ledger that was here are told from those that say that nothing is. */
export function exitCodeOf({ code }: Pick<Problem, 'code'>): number {
  const isUntrue = /^ledger\/(?:rolled-back|forked|wrong-|bad-entry|unsigned|missing-)/.test(code);
  return isUntrue ? EXIT.notVerified : EXIT.failed;
}

/** What happened, and the next thing to do. */
export function reportProblem(
  { message, hint }: Pick<Problem, 'message' | 'hint'>,
  io: Io,
  code: number = EXIT.failed,
): number {
  io.err(`Error: ${printable(message)}\n  hint: ${printable(hint)}\n`);
  return code;
}
