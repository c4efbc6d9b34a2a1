import { readFileSync } from 'node:fs';
import { toHex } from '../../ledger/hex.ts';
import type { LedgerPlace } from '../../ledger/ledger-place.ts';
import { nodeVerifier } from '../../ledger/node-crypto.ts';
import { findKnownKey } from '../../ledger/open-place.ts';
import { verifyLedger, type NotVerified, type Verified } from '../../ledger/verify.ts';
import { DO_NOT_WRITE } from '../../ledger/ledger-problem.ts';
import { EXIT, type Command, type Given, type Io } from '../command.ts';
import { printable } from '../printable.ts';
import { JSON_OPTION, PROJECT_OPTION } from './project-place.ts';
import { progressOn } from './progress.ts';
import { fail, withStore } from './with-store.ts';

export const verify: Command = {
  name: 'ledger verify',
  summary: 'Check the whole record: chain, hashes, signatures, tree, outside checkpoint',
  examples: ['baton ledger verify', 'baton ledger verify --all-signatures --json'],
  args: [],
  options: [
    { name: 'all-signatures', about: 'Check each signature, not only the newest, which covers all before it' },
    JSON_OPTION,
    PROJECT_OPTION,
  ],
  exitCodes: { 0: 'verified', 1: 'there is no ledger', 4: 'not verified: the first bad entry is named' },
  async run(given, io) {
    try {
      return await verifyPlace(given, io);
    } catch (error) {
      // The file is damaged where SQLite itself cannot read on.
      const what = error instanceof Error ? error.message : String(error);
      return fail({ message: `the ledger cannot be read: ${what}`, hint: DO_NOT_WRITE }, io, EXIT.notVerified);
    }
  },
};

function verifyPlace(given: Given, io: Io): Promise<number> {
  return withStore(given, io, async (store, place) => {
    const progress = progressOn(io, (await store.head()).size);
    const result = await verifyLedger(store, {
      project: place.project,
      verifier: nodeVerifier,
      allSignatures: given.options.has('all-signatures'),
      outside: readOutside(place),
      knownKey: findKnownKey(place),
      onProgress: progress.show,
    });
    progress.clear();
    io.out(given.options.has('json') ? `${JSON.stringify(asJson(result))}\n` : describe(result, place, io));
    return result.ok ? EXIT.ok : EXIT.notVerified;
  });
}

/** What cannot be read is not the same as what is not there: both are said, in their own words. */
function readOutside({ outside }: LedgerPlace): string | null {
  try {
    return readFileSync(outside, 'utf8');
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? null : '';
  }
}

function asJson(result: Verified | NotVerified): unknown {
  if (!result.ok) return { verified: false, findings: result.findings };
  const { size, root, keys, checkpoint, warnings } = result;
  return { verified: true, size, root: toHex(root), keys, checkpoint, warnings };
}

function describe(result: Verified | NotVerified, { project, ledger }: LedgerPlace, io: Io): string {
  if (result.ok) {
    for (const warning of result.warnings) io.err(`Warning: ${printable(warning)}\n`);
    return `verified: ${result.size} entries of ${project}\nroot: ${toHex(result.root)}\n`;
  }
  for (const { seq, problem } of result.findings) {
    io.err(`Error: ${seq === null ? '' : `entry ${seq}: `}${printable(problem.message)}\n  in ${ledger}\n`);
  }
  io.err(`  hint: ${printable(result.findings[0].problem.hint)}\n`);
  return '';
}
