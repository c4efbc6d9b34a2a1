import type { SqliteStore } from '../../ledger/sqlite/sqlite-store.ts';
import { isStoreUnavailable } from '../../ledger/store.ts';
import type { LedgerPlace } from '../../ledger/writer/ledger-files.ts';
import { openStoreAt } from '../../ledger/writer/open.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { EXIT, type Io, type ParsedArguments } from '../command.ts';
import { reportProblem } from '../problems.ts';
import { findLedger } from './find-ledger.ts';

/** `hidden`: the process runs in a sandbox, which must not see the state folder. */
export async function withStore(
  given: ParsedArguments,
  io: Io,
  use: (store: SqliteStore, place: LedgerPlace) => Promise<number>,
  hidden: () => Promise<number> | number = () => reportProblem(HIDDEN, io),
): Promise<number> {
  const found = await findLedger(given, io);
  if (!found.ok) return reportProblem(found.problem, io);
  const opened = await openStoreAt(found.place);
  if (!opened.ok && opened.problem.code === 'ledger/missing' && io.env['BATON_URL'] !== undefined) return hidden();
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

const HIDDEN = {
  code: 'ledger/hidden',
  message: 'the ledger is outside of this sandbox',
  hint: 'Read one entry with: baton ledger show SEQ. For the rest, leave the session.',
} as const;

/** A changed or replaced ledger has another exit code than a missing one. */
export function exitCodeOf({ code }: Pick<Problem, 'code'>): number {
  const isUntrue = /^ledger\/(?:rolled-back|forked|wrong-|bad-entry|unsigned|missing-)/.test(code);
  return isUntrue ? EXIT.notVerified : EXIT.failed;
}
