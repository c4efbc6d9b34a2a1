import { toHex } from '../../ledger/format/bytes.ts';
import { quarantineAfter } from '../../ledger/postgres/quarantine.ts';
import { findSignedEnd, type SignedEnd } from '../../ledger/verify/signed-end.ts';
import { nodeVerifier, readKeyFile } from '../../ledger/writer/keys.ts';
import { openLedger } from '../../ledger/writer/open.ts';
import type { LedgerPlace } from '../../ledger/writer/ledger-files.ts';
import type { Store } from '../../ledger/store.ts';
import { nullable, object, text, whole } from '../../protocol/shape/build-shape.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { findLedger } from '../ledger/find-ledger.ts';
import { operatorName } from '../ledger/seals.ts';
import { JSON_OPTION, PROJECT_OPTION } from '../operation-command.ts';
import { reportProblem } from '../problems.ts';
import { withDatabase } from './open-database.ts';

const repairShape = object({
  size: { ...whole, about: 'How many entries are good: a trusted key has signed the last of them.' },
  hash: { ...text, about: 'The hash of the last one.' },
  rows: { ...whole, about: 'How many rows after it are not, or were quarantined.' },
  fault: { ...nullable(text), about: 'What is wrong with the first of them; null if nothing is.' },
});

/** Works in two steps: the first shows what would be moved and the command for the second. */
export const storeRepairCommand: CliCommand = {
  examples: [
    'baton store repair postgres://postgres@db.example/baton',
    'baton store repair postgres://postgres@db.example/baton 1204 9f86d081884c7d65',
  ],
  args: [
    { name: 'URL', about: 'The database, as the role that owns it: postgres://OWNER@HOST:PORT/DATABASE' },
    { name: 'SIZE', about: 'How many entries stay, as the first step prints it', optional: true },
    { name: 'HASH', about: 'The hash of the last one, as the first step prints it', optional: true },
  ],
  options: [PROJECT_OPTION, JSON_OPTION],
  exitCodes: {
    0: 'nothing is wrong, or it was repaired',
    1: 'it cannot be repaired',
    4: 'there are rows to quarantine',
  },
  json: [{ shape: repairShape }],
  async run(given, io) {
    const [url = '', size, hash = ''] = given.args;
    const ledger = await findLedger(given, io);
    if (!ledger.ok) return reportProblem(ledger.problem, io);
    const { id } = ledger.found;
    return withDatabase({ url, id }, io, async ({ store, project }) => {
      const end = await findSignedEnd(store, nodeVerifier, id);
      if (size === undefined || end.fault === undefined)
        return explain(end, await countAfter(store, end), url, given, io);
      if (String(end.head.size) !== size || hash.length < 16 || !toHex(end.head.hash).startsWith(hash))
        return reportProblem(OTHER_END, io);
      const moved = await quarantineAfter(url, project, end.head);
      if (!moved.ok) return reportProblem(moved.problem, io);
      const data = { size: end.head.size, hash: toHex(end.head.hash), rows: moved.rows, by: operatorName(io) };
      const problem = await record(store, ledger.place, data);
      if (problem !== undefined) return reportProblem(problem, io);
      if (given.options.has('json')) io.out(`${JSON.stringify({ ...data, fault: null })}\n`);
      else
        io.out(`${moved.rows} rows are in quarantine, and the ledger says so. The daemons continue by themselves.\n`);
      return EXIT.ok;
    });
  },
};

async function countAfter(store: Pick<Store, 'hashes'>, { head }: SignedEnd): Promise<number> {
  let rows = 0;
  for await (const batch of store.hashes({ from: head.size + 1 })) rows += batch.length;
  return rows;
}

function explain({ head, fault }: SignedEnd, rows: number, url: string, given: ParsedArguments, io: Io): number {
  const { size } = head;
  const hash = toHex(head.hash);
  const code = fault === undefined ? EXIT.ok : EXIT.notVerified;
  if (given.options.has('json')) {
    io.out(`${JSON.stringify({ size, hash, rows, fault: fault?.problem.message ?? null })}\n`);
    return code;
  }
  if (fault === undefined) {
    io.out(`All ${size} entries are good. There is nothing to repair.\n`);
    return code;
  }
  io.out(
    [
      `The first ${size} entries are good, and a trusted key has signed them. Then: ${fault.problem.message}`,
      `Repairing moves the ${rows} rows after them into the table baton.quarantine, where you can inspect them. The`,
      'ledger records this (StoreRepaired). Entries that a replica still has come back from there.',
      `To repair: baton store repair ${url} ${size} ${hash.slice(0, 16)}`,
      '',
    ].join('\n'),
  );
  return code;
}

/** Signs the entry with the key of this host: a host whose key the ledger trusts repairs it. */
async function record(store: Store, place: LedgerPlace, data: { readonly [field: string]: string | number }) {
  const key = readKeyFile(place.key);
  if (key?.ok !== true) return NO_KEY;
  const opened = await openLedger({
    store,
    project: place.project,
    signer: key.value,
    verifier: nodeVerifier,
    outside: { read: () => undefined, write: () => undefined, sync: () => undefined, close: () => undefined },
    clock: () => new Date(),
  });
  if (!opened.ok) return opened.problem;
  for (;;) {
    const recorded = await opened.ledger.append([
      { actor: `operator:${data['by'] ?? 'unknown'}`, type: 'StoreRepaired', data },
    ]);
    if (recorded.ok) return undefined;
    if ('problem' in recorded) return recorded.problem;
  }
}

const NO_KEY = {
  code: 'store/no-key',
  message: 'the rows are in quarantine, but this machine has no key to record it with',
  hint: 'Run baton store repair on a host of the project.',
} as const;

const OTHER_END = {
  code: 'store/other-head',
  message: 'the good entries end at another one',
  hint: 'See where: baton store repair URL',
} as const;
