import { toHex } from '../../ledger/format/bytes.ts';
import { parseEntry } from '../../ledger/format/entry.ts';
import { compareLedgers, compareWithReplica } from '../../ledger/replica/compare.ts';
import type { Store, StoredEntry } from '../../ledger/store.ts';
import { openStoreAt } from '../../ledger/writer/open.ts';
import { renderStoreUrl } from '../../protocol/store-url.ts';
import { choice, nullable, object, text, typed, whole } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { findLedger, type FoundLedger } from '../ledger/find-ledger.ts';
import { exitCodeOf } from '../ledger/with-store.ts';
import { JSON_OPTION, PROJECT_OPTION } from '../operation-command.ts';
import { reportProblem } from '../problems.ts';
import { printable } from '../text.ts';
import { type OpenedDatabase, withDatabase } from './open-database.ts';

const ledgerEnd = object({
  size: { ...whole, about: 'How many entries it has.' },
  hash: { ...text, about: 'The hash of the last entry.' },
});
const entryOrNull = {
  ...nullable(typed<Readonly<Record<string, unknown>>>()),
  about: 'The entry with its hash; null if this side does not have it.',
};
export const comparedShape = object({
  verdict: {
    ...choice(['same', 'ahead', 'behind', 'forked']),
    about: '`ahead`: the database has more entries; `behind`: it has lost some; `forked`: they differ.',
  },
  store: { ...text, about: 'The address of the database.' },
  database: ledgerEnd,
  replica: ledgerEnd,
  difference: {
    ...nullable(
      object({ at: { ...whole, about: 'The number of the entry.' }, database: entryOrNull, replica: entryOrNull }),
    ),
    about: 'The first difference; null if one contains the other.',
  },
});
export type Compared = ValueOf<typeof comparedShape>;

export const storeCompareCommand: CliCommand = {
  examples: ['baton store compare', 'baton store compare --json'],
  args: [],
  options: [PROJECT_OPTION, JSON_OPTION],
  json: [{ shape: comparedShape }],
  exitCodes: {
    0: 'the database contains the replica',
    1: 'the database or the replica cannot be read',
    4: 'the database has lost entries, or differs',
  },
  async run(given, io) {
    return withBoth(given, io, async ({ shared, replica, url }) => {
      const compared = await describeBoth(shared, replica, url);
      io.out(given.options.has('json') ? `${JSON.stringify(compared)}\n` : renderComparison(compared));
      return compared.verdict === 'forked' || compared.verdict === 'behind' ? EXIT.notVerified : EXIT.ok;
    });
  },
};

export interface BothLedgers {
  readonly shared: Store;
  readonly replica: Store;
  readonly url: string;
  readonly database: Pick<OpenedDatabase, 'project' | 'connect'>;
  readonly found: Extract<FoundLedger, { ok: true }>;
}

/** Opens the database and this machine's replica for reading. */
export async function withBoth(
  given: ParsedArguments,
  io: Io,
  use: (both: BothLedgers) => Promise<number>,
): Promise<number> {
  const found = await findLedger(given, io);
  if (!found.ok) return reportProblem(found.problem, io);
  const { store: url, id } = found.found;
  if (url === undefined) return reportProblem(ONE_LEDGER, io);
  const opened = await openStoreAt(found.place);
  if (!opened.ok) return reportProblem(opened.problem, io, exitCodeOf(opened.problem));
  try {
    return await withDatabase({ url, id }, io, async (database) =>
      use({ shared: database.store, replica: opened.store, url, database, found }),
    );
  } finally {
    await opened.store.close();
  }
}

const ONE_LEDGER = {
  code: 'store/one-ledger',
  message: 'this project is on one machine: there is nothing to compare its ledger with',
  hint: 'Check the ledger alone: baton ledger verify',
} as const;

export async function describeBoth(shared: Store, replica: Store, url: string): Promise<Compared> {
  const verdict = await compareWithReplica(shared, replica);
  const difference = verdict === 'same' ? undefined : await compareLedgers(shared, replica);
  const [database, own] = [await shared.head(), await replica.head()];
  return {
    verdict: verdict === 'same' ? 'same' : verdict.kind,
    store: renderStoreUrl(url),
    database: { size: database.size, hash: toHex(database.hash) },
    replica: { size: own.size, hash: toHex(own.hash) },
    difference:
      difference === undefined
        ? null
        : { at: difference.at, database: entryOf(difference.left), replica: entryOf(difference.right) },
  };
}

function entryOf(stored: StoredEntry | undefined): Readonly<Record<string, unknown>> | null {
  if (stored === undefined) return null;
  const parsed = parseEntry(stored.bytes);
  return { hash: toHex(stored.hash), ...(parsed.ok ? parsed.value : {}) };
}

export function renderComparison({ verdict, store, database, replica, difference }: Compared): string {
  const lines = [
    `database  ${database.size} entries, ${database.hash}  ${store}`,
    `replica   ${replica.size} entries, ${replica.hash}  of this host`,
    VERDICTS[verdict](database.size - replica.size),
  ];
  if (difference !== null && verdict !== 'ahead') {
    lines.push(`first difference: entry ${difference.at}`);
    lines.push(`  database  ${describeEntry(difference.database)}`, `  replica   ${describeEntry(difference.replica)}`);
  }
  return `${lines.map(printable).join('\n')}\n`;
}

const VERDICTS: Readonly<Record<Compared['verdict'], (ahead: number) => string>> = {
  same: () => 'The database and the replica are the same.',
  ahead: (count) => `The database has ${count} more; it contains all entries of the replica.`,
  behind: (count) =>
    `The database has lost ${-count} entries that the replica has. The daemons restore them: baton up, then baton status --fleet`,
  forked: () =>
    'The database and the replica differ, so no host writes. Restore the right database, or continue with this one: baton store accept',
};

function describeEntry(entry: unknown): string {
  return entry === null ? 'none' : JSON.stringify(entry);
}
