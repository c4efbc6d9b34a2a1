import { existsSync } from 'node:fs';
import { belowSessionError } from '../../api/below-session.ts';
import { findSessionAbove } from '../../api/session-above.ts';
import { findStateDir } from '../../api/state-folder.ts';
import { openLedgerAt, openStoreAt } from '../../ledger/writer/open.ts';
import { sealLedger } from '../../ledger/writer/seal.ts';
import { EXIT, type CliCommand, type ParsedArguments, type Io } from '../command.ts';
import { printableFields } from '../fields.ts';
import { findLedger, JSON_OPTION, PROJECT_OPTION } from './find-ledger.ts';
import { exitCodeOf, reportProblem } from './with-store.ts';

export const ledgerSealCommand: CliCommand = {
  name: 'ledger seal',
  summary: 'Seal the ledger: record a signed root over all entries',
  examples: ['baton ledger seal', 'baton ledger seal --json'],
  args: [],
  options: [JSON_OPTION, PROJECT_OPTION],
  exitCodes: { 0: 'sealed', 1: 'there is nothing to seal', 4: 'what is stored is not what was recorded' },
  async run(given, io) {
    const found = await findLedger(given, io);
    if (!found.ok) return reportProblem(found.problem, io);
    // Without a daemon this command signs with the machine's key itself.
    const above = findSessionAbove(findStateDir(io.env), io.env);
    if (above !== undefined) return reportProblem(belowSessionError(above), io);
    // A ledger begins with something that happened, not with a seal.
    if (!existsSync(found.place.ledger)) {
      const missing = await openStoreAt(found.place);
      if (!missing.ok) return reportProblem(missing.problem, io, exitCodeOf(missing.problem));
    }
    const opened = await openLedgerAt(found.place, { clock: () => new Date() });
    if (!opened.ok && opened.problem.code === 'ledger/taken') return sealThroughDaemon(given, io);
    if (!opened.ok) return reportProblem(opened.problem, io, exitCodeOf(opened.problem));
    const sealed = await sealLedger(opened.ledger, `operator:${operatorName(io)}`);
    await opened.ledger.close();
    if (!sealed.ok) return reportProblem(sealed.problem, io, exitCodeOf(sealed.problem));
    return reportSeal({ ...sealed.seal, is_new: sealed.isNew }, given, io);
  },
};

/** The daemon is the one writer while it runs: it seals, then. */
async function sealThroughDaemon(given: ParsedArguments, io: Io): Promise<number> {
  const { callOperation: ask } = await import('../ask.ts');
  const answer = await ask('merkle_finalize', {}, given, io);
  return answer.ok ? reportSeal(answer.result, given, io) : reportProblem(answer.error, io, exitCodeOf(answer.error));
}

function reportSeal(seal: unknown, given: ParsedArguments, io: Io): number {
  const { is_new, size, seq, root } = printableFields(seal);
  if (given.options.has('json')) io.out(`${JSON.stringify(seal)}\n`);
  else io.out(`${is_new === 'true' ? 'sealed' : 'already sealed'}: ${size} entries, by entry ${seq}\nroot: ${root}\n`);
  return EXIT.ok;
}

function operatorName({ env }: Io): string {
  const name = (env.USER ?? env.LOGNAME ?? '').replaceAll(/[^A-Za-z0-9._@-]+/g, '-');
  return name === '' ? 'unknown' : name.slice(0, 64);
}
