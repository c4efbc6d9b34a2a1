import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { exportLedger } from '../../ledger/verify/export.ts';
import { nodeVerifier } from '../../ledger/writer/node-crypto.ts';
import type { LedgerFault } from '../../ledger/verify/walk.ts';
import { EXIT, type CliCommand, type Io } from '../command.ts';
import { PROJECT_OPTION } from './find-ledger.ts';
import { reportProblem, withStore } from './with-store.ts';

export const ledgerExportCommand: CliCommand = {
  name: 'ledger export',
  summary: 'Print the ledger as NDJSON that others can check',
  examples: ['baton ledger export -o ledger.ndjson', 'baton ledger export | gzip > ledger.ndjson.gz'],
  args: [],
  options: [
    { name: 'output', short: 'o', value: 'FILE', about: 'Where to write it; without it, standard output' },
    PROJECT_OPTION,
  ],
  exitCodes: { 0: 'exported', 1: 'there is no ledger', 4: 'what is stored is not what was recorded' },
  run(given, io) {
    return withStore(given, io, async (store, { project }) => {
      const file = given.options.get('output');
      const lines = exportLedger(store, nodeVerifier, project);
      const fault = file === undefined ? await printExport(lines, io) : await writeExport(lines, resolve(io.cwd, file));
      if (!fault) return EXIT.ok;
      const { message, hint } = fault.problem;
      return reportProblem({ message: `entry ${fault.seq}: ${message}`, hint }, io, EXIT.notVerified);
    });
  },
};

type Lines = AsyncGenerator<string, LedgerFault | undefined>;

async function printExport(lines: Lines, io: Io): Promise<LedgerFault | undefined> {
  for (;;) {
    const { done, value } = await lines.next();
    if (done) return value;
    io.out(value);
  }
}

/** Under another name until it is whole and known to hold: a file of that name is a good one, then as before. */
async function writeExport(lines: Lines, path: string): Promise<LedgerFault | undefined> {
  const draft = `${path}.partial`;
  const fd = openSync(draft, 'w');
  try {
    for (;;) {
      const { done, value } = await lines.next();
      if (!done) writeSync(fd, value);
      else if (value) return value;
      else break;
    }
    renameSync(draft, path);
    return undefined;
  } finally {
    closeSync(fd);
    rmSync(draft, { force: true });
  }
}
