import { writeProjectStore } from '../../api/project-list.ts';
import { findHostName } from '../../api/host-name.ts';
import { lockStateFolder } from '../../daemon/state-lock.ts';
import { sameBytes, toHex } from '../../ledger/format/bytes.ts';
import { parseCheckpoint } from '../../ledger/format/checkpoint.ts';
import { compareWithReplica, lossProblem } from '../../ledger/replica/compare.ts';
import { copyLedger } from '../../ledger/replica/copy.ts';
import { detachReplica } from '../../ledger/replica/replica-mark.ts';
import type { Head, Store } from '../../ledger/store.ts';
import { nodeSha256 } from '../../ledger/writer/keys.ts';
import { type LedgerPlace, OutsideCopyFile } from '../../ledger/writer/ledger-files.ts';
import { openStoreAt, openWriterAt } from '../../ledger/writer/open.ts';
import { findStoreUrlProblem, renderStoreUrl } from '../../protocol/store-url.ts';
import { type CliCommand, EXIT, type Io } from '../command.ts';
import { findLedger, type FoundProject } from '../ledger/find-ledger.ts';
import { createProgress } from '../ledger/verify.ts';
import { exitCodeOf } from '../ledger/with-store.ts';
import { PROJECT_OPTION } from '../operation-command.ts';
import { reportProblem } from '../problems.ts';
import { printable } from '../text.ts';
import { readFleetOnRecord } from './fleet-on-record.ts';
import { withDatabase } from './open-database.ts';

export const storeMoveCommand: CliCommand = {
  examples: ['baton store move --to postgres://baton@db.example/baton', 'baton store move --to sqlite'],
  args: [],
  options: [
    { name: 'to', value: 'URL|sqlite', needed: true, about: 'The URL of a database, or sqlite for the state folder' },
    PROJECT_OPTION,
  ],
  exitCodes: { 0: 'moved', 1: 'not moved', 4: 'a ledger is not what was recorded' },
  async run(given, io) {
    const to = given.options.get('to');
    if (to === undefined) return { usage: '--to URL|sqlite is missing' };
    const target = to === 'sqlite' ? undefined : to;
    const wrong = target === undefined ? undefined : findStoreUrlProblem(target);
    if (wrong !== undefined) return reportProblem(wrong, io, EXIT.usage);
    const ledger = await findLedger(given, io);
    if (!ledger.ok) return reportProblem(ledger.problem, io);
    const { found, place } = ledger;
    if (!found.isKnown) return reportProblem(nothingToMove(found, target), io);
    const lock = lockStateFolder(found.stateDir);
    if (!lock.ok) return reportProblem(lock.isTaken ? DAEMON_RUNS : lock.error, io);
    try {
      return await move({ found, place, target }, io);
    } finally {
      lock.release();
    }
  },
};

interface Move {
  readonly found: FoundProject;
  readonly place: LedgerPlace;
  /** Undefined for the state folder. */
  readonly target: string | undefined;
}

async function move({ found, place, target }: Move, io: Io): Promise<number> {
  const { id, store: source, stateDir, repository } = found;
  const switchTo = (store: string | undefined): void =>
    writeProjectStore(stateDir, id, { path: repository.mainTop, store });
  if (source === undefined && target === undefined) {
    io.out(`The ledger of ${id} is in the state folder already: ${place.ledger}\n`);
    return EXIT.ok;
  }
  if (source !== undefined && target !== undefined && renderStoreUrl(source) === renderStoreUrl(target)) {
    switchTo(target);
    io.out(`The ledger of ${id} is in ${renderStoreUrl(target)} already.\n${linesFor(id, target)}`);
    return EXIT.ok;
  }
  return withSource({ found, place }, io, async (from) => {
    if (target === undefined) {
      const others = await findOtherHosts(from, found, io);
      if (others.length > 0) return reportProblem(otherHosts(others), io);
      return withFile(place, io, async (to) => {
        const copied = await copyAll(from, to, io);
        if (typeof copied === 'number') return copied;
        await detachReplica(to);
        writeOutside(place, copied.note);
        switchTo(undefined);
        io.out(describeToFile(id, source ?? '', place, copied));
        return EXIT.ok;
      });
    }
    return withDatabase({ url: target, id, opening: 'alone' }, io, async ({ store: to }) => {
      const copied = await copyAll(from, to, io);
      if (typeof copied === 'number') return copied;
      switchTo(target);
      io.out(describeToDatabase(id, target, place, copied));
      return EXIT.ok;
    });
  });
}

async function withSource(
  { found: { id, store: url }, place }: Pick<Move, 'found' | 'place'>,
  io: Io,
  use: (from: Store) => Promise<number>,
): Promise<number> {
  const opened = await openStoreAt(place);
  if (!opened.ok && !(url !== undefined && opened.problem.code.startsWith('ledger/missing')))
    return reportProblem(opened.problem, io, exitCodeOf(opened.problem));
  const file = opened.ok ? opened.store : undefined;
  try {
    if (url === undefined) return file === undefined ? EXIT.failed : await use(file);
    return await withDatabase({ url, id }, io, async ({ store }) => {
      // A database that lost entries must not count as the whole ledger.
      const lost = file === undefined ? undefined : lossProblem(await compareWithReplica(store, file));
      return lost === undefined ? use(store) : reportProblem(lost, io, exitCodeOf(lost));
    });
  } finally {
    await file?.close();
  }
}

/** Uses the replica's file, which becomes the ledger. It is synced when it is closed. */
async function withFile(place: LedgerPlace, io: Io, use: (to: Store) => Promise<number>): Promise<number> {
  const opened = await openWriterAt(place);
  if (!opened.ok) return reportProblem(opened.problem, io, exitCodeOf(opened.problem));
  try {
    return await use(opened.store);
  } finally {
    await opened.store.close();
  }
}

interface CopiedAll {
  readonly head: Head;
  readonly root: string;
  readonly entries: number;
  readonly note: string;
}

/** Copies, then compares head and root of both sides. Returns an exit code if they differ. */
async function copyAll(from: Store, to: Store, io: Io): Promise<CopiedAll | number> {
  const progress = createProgress(io, (await from.head()).size);
  const copied = await copyLedger(from, to, { sha256: nodeSha256, onProgress: progress.show });
  progress.clear();
  if (!copied.ok) return reportProblem(copied.problem, io, exitCodeOf(copied.problem));
  const [was, is] = [await from.findCheckpoint(), await to.findCheckpoint()];
  const root = parseCheckpoint(was?.note ?? '');
  const isSame = root.ok && sameBytes(root.value.root, copied.root) && was?.note === is?.note;
  if (!isSame || is === undefined) return reportProblem(NOT_SAME, io, EXIT.notVerified);
  return { head: copied.head, root: toHex(copied.root), entries: copied.entries, note: is.note };
}

function writeOutside({ outside }: LedgerPlace, note: string): void {
  const file = new OutsideCopyFile(outside);
  file.write(note);
  file.close();
}

/** This machine leaves the fleet with its ledger, so other hosts would be left without one. */
async function findOtherHosts(from: Store, { stateDir }: FoundProject, { env }: Io): Promise<readonly string[]> {
  const fleet = await readFleetOnRecord(from);
  const here = findHostName(stateDir, env);
  return [...(fleet?.hosts.keys() ?? [])].filter((host) => host !== here);
}

function describeToDatabase(id: string, url: string, { ledger }: LedgerPlace, { head, root }: CopiedAll): string {
  return [
    `Moved: ${head.size} entries of ${id} are in ${renderStoreUrl(url)}, with the same root.`,
    `root: ${root}`,
    `The file stays, as the replica of this host: ${printable(ledger)}`,
    linesFor(id, url),
  ].join('\n');
}

function linesFor(id: string, url: string): string {
  return [
    'Write into baton.toml, and commit it:',
    `  project = "${id}"`,
    `  store = "${url}"`,
    'Then start: baton up',
    '',
  ].join('\n');
}

function describeToFile(id: string, source: string, { ledger }: LedgerPlace, { head, root }: CopiedAll): string {
  return [
    `Moved: ${head.size} entries of ${id} are in ${printable(ledger)}, with the same root.`,
    `root: ${root}`,
    'Remove `store` from baton.toml, keep `project`, and commit it. Then start: baton up',
    `The copy in ${renderStoreUrl(source)} was not changed. If no other project uses that database, its owner removes it:`,
    '  DROP SCHEMA baton CASCADE',
    '',
  ].join('\n');
}

const DAEMON_RUNS = {
  code: 'daemon-runs',
  message: 'the daemon of this state folder runs, and could write during the copy',
  hint: 'Stop it: baton down. Its agents continue, and the next baton up reconnects them.',
} as const;

const NOT_SAME = {
  code: 'store/not-same',
  message: 'the copy does not have the same root as the ledger; nothing was switched',
  hint: 'Compare both: baton store compare. The ledger itself was not changed.',
} as const;

function nothingToMove({ id }: FoundProject, target: string | undefined) {
  const message = `the project ${id} has no ledger in this state folder`;
  const hint =
    target === undefined
      ? 'The first command in the project creates it.'
      : `To create the ledger in the database: baton down && baton up --store ${target}. To join hosts that already use the database: baton host join ${target}`;
  return { code: 'store/nothing-to-move', message, hint };
}

function otherHosts(names: readonly string[]) {
  const message = `other hosts use this ledger: ${names.join(', ')}`;
  return { code: 'store/other-hosts', message, hint: 'Remove them first: baton host remove NAME --reason "…"' };
}
