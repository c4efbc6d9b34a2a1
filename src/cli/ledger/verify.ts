import { readFileSync } from 'node:fs';
import { STATE_FOLD, UnknownTypes } from '../../daemon/loop/fold-state.ts';
import { toHex } from '../../ledger/format/bytes.ts';
import { parseKey } from '../../ledger/format/checkpoint.ts';
import { DO_NOT_WRITE } from '../../ledger/format/limits.ts';
import { isReplica } from '../../ledger/replica/replica-mark.ts';
import type { Store } from '../../ledger/store.ts';
import { type NotVerified, type Verified, verifyLedger } from '../../ledger/verify/verify-ledger.ts';
import { refoldSnapshot } from '../../ledger/verify/verify-snapshots.ts';
import { nodeVerifier } from '../../ledger/writer/keys.ts';
import type { LedgerPlace } from '../../ledger/writer/ledger-files.ts';
import { findKnownKey } from '../../ledger/writer/open.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { choice, list, nullable, object, optional, text, whole } from '../../protocol/shape/build-shape.ts';
import { problemShape } from '../json-output.ts';
import { JSON_OPTION, PROJECT_OPTION } from '../operation-command.ts';
import { renderErrorLine, reportProblem } from '../problems.ts';
import { printable } from '../text.ts';
import { withStore } from './with-store.ts';

const verifiedShape = object({
  verified: { kind: 'flag', only: true },
  size: { ...whole, about: 'How many entries the ledger has.' },
  root: { ...text, about: 'The root of its tree.' },
  keys: { ...list(text), about: 'The keys that signed the checkpoints.' },
  checkpoint: { ...optional(text), about: 'The signed note of the newest checkpoint.' },
  warnings: { ...list(text), about: 'What could not be verified, in sentences.' },
  fold: {
    ...object({
      entries: { ...whole, about: 'How many entries were folded.' },
      ms: whole,
      snapshot: { ...choice(['matches', 'none']), about: '`none`: there is no snapshot.' },
    }),
    about: 'The comparison of the snapshot with a new fold of all entries.',
  },
});
const notVerifiedShape = object({
  verified: { kind: 'flag', only: false },
  findings: list(
    object({
      seq: { ...nullable(whole), about: 'The number of the bad entry; null if the fault is not in an entry.' },
      problem: { ...problemShape, about: 'What is wrong.' },
    }),
  ),
});

export const ledgerVerifyCommand: CliCommand = {
  examples: ['baton ledger verify', 'baton ledger verify --all-signatures --json'],
  args: [],
  options: [
    { name: 'all-signatures', about: 'Check every signature, not only the newest, which covers all entries before it' },
    JSON_OPTION,
    PROJECT_OPTION,
  ],
  json: [{ shape: verifiedShape }, { shape: notVerifiedShape }],
  exitCodes: {
    0: 'verified',
    1: 'there is no ledger',
    4: 'not verified: the error names the first bad entry or the forged snapshot',
  },
  async run(given, io) {
    try {
      return await verifyLedgerPlace(given, io);
    } catch (error) {
      // SQLite itself cannot read the damaged file.
      const what = error instanceof Error ? error.message : String(error);
      const message = `the ledger cannot be read: ${what}`;
      return reportProblem({ code: 'ledger/unreadable', message, hint: DO_NOT_WRITE }, io, EXIT.notVerified);
    }
  },
};

function verifyLedgerPlace(given: ParsedArguments, io: Io): Promise<number> {
  return withStore(given, io, async (store, place) => {
    const progress = createProgress(io, (await store.head()).size);
    const unknown = new UnknownTypes();
    const isShared = await isReplica(store);
    const verified = await verifyLedger(store, {
      project: place.project,
      verifier: nodeVerifier,
      allSignatures: given.options.has('all-signatures'),
      // The outside checkpoint of a shared ledger is this replica itself.
      outside: isShared ? undefined : readOutside(place),
      knownKey: findKnownKey(place),
      onProgress: progress.show,
      onEntry: (entry) => unknown.read(entry),
    });
    progress.clear();
    const result = verified.ok ? { ...verified, warnings: [...verified.warnings, ...unknown.warnings] } : verified;
    const checked = result.ok ? await compareFold(store, place, result, io) : result;
    io.out(
      given.options.has('json') ? `${JSON.stringify(asJson(checked))}\n` : renderResult(checked, place, io, isShared),
    );
    return checked.ok ? EXIT.ok : EXIT.notVerified;
  });
}

/** Measured separately, because hashing and folding have different bottlenecks. */
interface FoldMeasure {
  readonly entries: number;
  readonly ms: number;
  readonly snapshot: 'matches' | 'none';
}

type Checked = (Verified & { readonly fold: FoldMeasure }) | NotVerified;

/** Folds the verified entries again, and compares the result with the stored snapshot. */
async function compareFold(store: Store, { project }: LedgerPlace, result: Verified, io: Io): Promise<Checked> {
  const keys = result.keys
    .map((text) => parseKey(nodeVerifier.sha256, text))
    .flatMap((key) => (key.ok ? key.value : []));
  const progress = createProgress(io, result.size);
  const startMs = performance.now();
  const folded = await refoldSnapshot(store, { project, verifier: nodeVerifier, keys }, STATE_FOLD, progress.show);
  const ms = Math.round(performance.now() - startMs);
  progress.clear();
  if (!folded.ok) return { ok: false, findings: [folded.finding] };
  const { entries } = folded;
  return { ...result, fold: { entries, ms, snapshot: entries === 0 ? 'none' : 'matches' } };
}

/** Returns null if the file does not exist, and an empty text if it is unreadable. The two are reported differently. */
function readOutside({ outside }: LedgerPlace): string | null {
  try {
    return readFileSync(outside, 'utf8');
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? null : '';
  }
}

function asJson(result: Checked): unknown {
  if (!result.ok) return { verified: false, findings: result.findings };
  const { size, root, keys, checkpoint, warnings, fold } = result;
  return { verified: true, size, root: toHex(root), keys, checkpoint, warnings, fold };
}

function renderResult(result: Checked, { project, ledger }: LedgerPlace, io: Io, isShared: boolean): string {
  if (result.ok) {
    for (const warning of result.warnings) io.err(`Warning: ${printable(warning)}\n`);
    const where = isShared
      ? 'read from the replica of this host; compare it with the database: baton store compare\n'
      : '';
    return `verified: ${result.size} entries of ${project}\nroot: ${toHex(result.root)}\n${describeFold(result.fold)}\n${where}`;
  }
  for (const { seq, problem } of result.findings) {
    const message = `${seq === null ? '' : `entry ${seq}: `}${printable(problem.message)}`;
    io.err(`${renderErrorLine({ code: problem.code, message }, io)}\n  in ${ledger}\n`);
  }
  io.err(`  hint: ${printable(result.findings[0].problem.hint)}\n`);
  return '';
}

function describeFold({ entries, ms, snapshot }: FoldMeasure): string {
  if (snapshot === 'none') return 'fold: there is no snapshot to compare with';
  return `fold: ${entries} entries folded again in ${(ms / 1000).toFixed(2)} s; the snapshot matches`;
}

/** A smaller ledger is verified without progress. */
const MIN_ENTRIES = 50_000;

/** Shows a progress line on standard error, only at a terminal. */
export function createProgress(io: Io, total: number): { show: (done: number) => void; clear: () => void } {
  if (!io.isTerminal || total < MIN_ENTRIES) return { show: () => {}, clear: () => {} };
  let shown = -1;
  return {
    show(done) {
      const percent = Math.floor((100 * done) / total);
      if (percent === shown) return;
      shown = percent;
      io.err(`\rverifying: ${percent}% (${done} of ${total} entries)`);
    },
    clear: () => io.err('\r\u001b[K'),
  };
}
