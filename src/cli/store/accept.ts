import { existsSync, renameSync } from 'node:fs';
import { findHostName } from '../../api/host-name.ts';
import { findStateDir } from '../../api/state-folder.ts';
import { lockStateFolder } from '../../daemon/state-lock.ts';
import { dropForkReport, type ForkReport, forkReports } from '../../fleet/replica-reports.ts';
import { toHex } from '../../ledger/format/bytes.ts';
import { findHash } from '../../ledger/store.ts';
import type { LedgerPlace } from '../../ledger/writer/ledger-files.ts';
import { list, nullable, object, text, whole } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { callOperation } from '../ask.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { JSON_OPTION, PROJECT_OPTION, reportError } from '../operation-command.ts';
import { reportProblem } from '../problems.ts';
import { printable } from '../text.ts';
import { type BothLedgers, type Compared, comparedShape, describeBoth, renderComparison, withBoth } from './compare.ts';

const explainedShape = object({
  ...comparedShape.fields,
  forked: {
    ...list(
      object({
        host: text,
        size: { ...whole, about: 'How many entries its replica has.' },
        silent_ms: { ...whole, about: 'The time since its last report.' },
      }),
    ),
    about: 'The hosts whose replica differs.',
  },
  next: { ...nullable(text), about: 'The command that accepts; null if there is nothing to accept here.' },
});
const droppedShape = object({ dropped: { ...text, about: 'The host whose replica no longer counts.' } });

/** Works in two steps: the first shows both ledgers and the command for the second. */
export const storeAcceptCommand: CliCommand = {
  examples: ['baton store accept', 'baton store accept 1204 9f86d081884c7d65', 'baton store accept --drop beta'],
  args: [
    { name: 'SIZE', about: 'How many entries the database has, as the first step prints it', optional: true },
    { name: 'HASH', about: 'The hash of its last entry, as the first step prints it', optional: true },
  ],
  options: [
    { name: 'drop', value: 'HOST', about: 'Ignore the replica of a host that is lost' },
    PROJECT_OPTION,
    JSON_OPTION,
  ],
  operation: 'store_accept',
  json: [
    { when: 'SIZE HASH', result: 'store_accept' },
    { shape: explainedShape },
    { when: '--drop', shape: droppedShape },
  ],
  async run(given, io) {
    const [size, hash] = given.args;
    if (size !== undefined && (hash === undefined || !/^\d+$/.test(size) || !/^[0-9a-f]{16,64}$/.test(hash)))
      return { usage: 'SIZE and HASH must be as `baton store accept` prints them' };
    let accepted: (Compared & { readonly forked: readonly ForkReport[] }) | undefined;
    const code = await withBoth(given, io, async (both) => {
      const gone = given.options.get('drop');
      const reports = await forkReports(both.database.connect('store accept'), both.database.project);
      if (gone !== undefined) return dropFork(gone, reports, both.database, io);
      const compared = await describeBoth(both.shared, both.replica, both.url);
      if (size === undefined || hash === undefined) return explain(compared, reports, io);
      // Other hosts may have written since the first step.
      const stored = await findHash(both.shared, Number(size));
      const entry = stored === undefined ? '' : toHex(stored);
      if (!entry.startsWith(hash) || Number(size) < (compared.difference?.at ?? 0))
        return reportProblem(OTHER_HEAD, io);
      accepted = { ...compared, database: { size: Number(size), hash: entry }, forked: reports };
      return EXIT.ok;
    });
    if (code !== EXIT.ok || accepted === undefined) return code;
    const recorded = await accept(accepted, given, io);
    const others = accepted.forked.filter(({ host }) => host !== findHostName(findStateDir(io.env), io.env));
    if (recorded !== EXIT.ok && others.length > 0) io.err(acceptThere(others));
    return recorded;
  },
};

async function dropFork(
  host: string,
  reports: readonly ForkReport[],
  { project, connect }: BothLedgers['database'],
  io: Io,
): Promise<number> {
  if (!reports.some((report) => report.host === host)) return reportProblem(noFork(host, reports), io);
  await dropForkReport(connect('store accept'), project, host);
  io.out(
    io.json === true
      ? `${JSON.stringify({ dropped: host })}\n`
      : `The replica of host ${printable(host)} is ignored from now on. The other hosts continue.\n`,
  );
  return EXIT.ok;
}

function explain(compared: Compared, reports: readonly ForkReport[], io: Io): number {
  const { verdict, database } = compared;
  const isContained = verdict === 'same' || verdict === 'ahead';
  const next = `baton down && baton store accept ${database.size} ${database.hash.slice(0, 16)}`;
  const code = isContained && reports.length === 0 ? EXIT.ok : EXIT.failed;
  if (io.json === true) {
    const forked = reports.map(({ host, size, silentMs }) => ({ host, size, silent_ms: Math.round(silentMs) }));
    const explained: ValueOf<typeof explainedShape> = { ...compared, forked, next: isContained ? null : next };
    io.out(`${JSON.stringify(explained)}\n`);
    return code;
  }
  io.out(renderComparison(compared));
  for (const { host, size, silentMs } of reports) {
    const silent = silentMs > 10_000 ? `, silent for ${Math.round(silentMs / 1000)} s` : '';
    io.out(`host ${printable(host)} reports a replica of ${size} entries that differs${silent}\n`);
  }
  if (isContained) {
    if (reports.length === 0) io.out('There is nothing to accept.\n');
    else io.out('Run baton store accept on each of those hosts. If a host is lost: baton store accept --drop HOST\n');
    return code;
  }
  io.out(
    [
      'Accepting means: this host continues with the database. Its replica is renamed, not deleted, and the',
      'entries that only the replica has are given up. The ledger records this (StoreAccepted). Accept on each host.',
      `To accept: ${next}`,
      '',
    ].join('\n'),
  );
  return code;
}

async function accept(compared: Compared, given: ParsedArguments, io: Io): Promise<number> {
  const { verdict, database, difference } = compared;
  if (verdict === 'forked' || verdict === 'behind') {
    const aside = await setAside(given, io);
    if (typeof aside === 'number') return aside;
    io.err(`The replica was renamed: ${printable(aside.path)}\n`);
  }
  // The daemon builds a new replica when it opens the project, and records the decision in the accepted chain.
  const input = { size: database.size, hash: database.hash, differs_at: difference?.at ?? database.size };
  const answer = await callOperation('store_accept', input, given, io);
  if (!answer.ok) return reportError(answer.error, given, io);
  io.out(
    given.options.has('json')
      ? `${JSON.stringify(answer.result)}\n`
      : `Accepted and recorded: this host continues from entry ${database.size}.\n`,
  );
  return EXIT.ok;
}

/** No entry is recorded until the last host has accepted. */
function acceptThere(others: readonly ForkReport[]): string {
  const names = others.map(({ host }) => printable(host)).join(', ');
  return `The replicas of ${names} differ as well. Accept on each of them. Then run this command here again, so that the ledger records it.\n`;
}

/** Holds the lock of the state folder, because a daemon would keep writing to the file. */
async function setAside(given: ParsedArguments, io: Io): Promise<{ readonly path: string } | number> {
  const { findLedger } = await import('../ledger/find-ledger.ts');
  const ledger = await findLedger(given, io);
  if (!ledger.ok) return reportProblem(ledger.problem, io);
  const lock = lockStateFolder(ledger.found.stateDir);
  if (!lock.ok) return reportProblem(lock.isTaken ? DAEMON_RUNS : lock.error, io);
  try {
    return { path: renameLedger(ledger.place) };
  } finally {
    lock.release();
  }
}

function renameLedger({ ledger, outside }: LedgerPlace): string {
  const free = (n: number): string => `${ledger}.forked-${n}`;
  let n = 1;
  while (existsSync(free(n))) n += 1;
  for (const ending of ['', '-wal', '-shm', '.unsynced'])
    if (existsSync(`${ledger}${ending}`)) renameSync(`${ledger}${ending}`, `${free(n)}${ending}`);
  if (existsSync(outside)) renameSync(outside, `${free(n)}.checkpoint`);
  return free(n);
}

const DAEMON_RUNS = {
  code: 'daemon-runs',
  message: 'the daemon of this state folder runs',
  hint: 'Stop the daemon: baton down. Its agents continue. Then run the same command again.',
} as const;

function noFork(host: string, reports: readonly ForkReport[]) {
  const names = reports.map((report) => report.host).join(', ');
  const hint = names === '' ? 'No host reports a replica that differs.' : `Hosts whose replicas differ: ${names}.`;
  return {
    code: 'store/no-fork',
    message: `the replica of host ${host} does not differ, so it does not prevent writing`,
    hint,
  };
}

const OTHER_HEAD = {
  code: 'store/other-head',
  message: 'the database does not have that entry, or it is before the first difference',
  hint: 'See what it has now: baton store accept',
} as const;
