import { statSync } from 'node:fs';
import { toHex } from '../../ledger/format/bytes.ts';
import { sql } from '../../ledger/postgres/statement.ts';
import type { Head } from '../../ledger/store.ts';
import { openStoreAt } from '../../ledger/writer/open.ts';
import type { LedgerPlace } from '../../ledger/writer/ledger-files.ts';
import { renderStoreUrl } from '../../protocol/store-url.ts';
import { nullable, object, optional, text, whole } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { type CliCommand, EXIT, type Io } from '../command.ts';
import { findLedger, type FoundProject } from '../ledger/find-ledger.ts';
import { JSON_OPTION, PROJECT_OPTION } from '../operation-command.ts';
import { reportProblem } from '../problems.ts';
import { renderFacts } from '../table.ts';
import { withDatabase } from './open-database.ts';

const storeStatus = object({
  project: { ...text, about: 'The id of the project.' },
  store: { ...text, about: '`sqlite`, or the address of the database without its user.' },
  role: optional(text, 'The database role of the daemon.'),
  generation: optional(text, 'The generation of the server; it changes when the server is restored.'),
  latency_ms: optional({ kind: 'number' } as const, 'The time of one query.'),
  entries: optional(whole, 'How many entries the database has.'),
  head: optional(nullable(text), 'The hash of the last entry in the database; null if it is empty.'),
  database_bytes: optional(whole, 'The size of the tables of the project.'),
  file: { ...text, about: 'The file of the ledger, or of its replica on this machine.' },
  file_entries: { ...nullable(whole), about: 'How many entries the file has; null if it does not exist yet.' },
  file_bytes: { ...nullable(whole), about: 'The size of the file.' },
});
export type StoreStatus = ValueOf<typeof storeStatus>;

export const storeStatusCommand: CliCommand = {
  examples: ['baton store status'],
  args: [],
  options: [PROJECT_OPTION, JSON_OPTION],
  exitCodes: { 0: 'shown', 1: 'it cannot be read', 4: 'what is stored is not what was recorded' },
  json: [{ shape: storeStatus }],
  async run(given, io) {
    const ledger = await findLedger(given, io);
    if (!ledger.ok) return reportProblem(ledger.problem, io);
    const { found, place } = ledger;
    const show = (status: StoreStatus): number => {
      io.out(given.options.has('json') ? `${JSON.stringify(status)}\n` : renderStoreStatus(status));
      return EXIT.ok;
    };
    const local = await readLocal(place);
    if (found.store === undefined) return show({ ...local, project: found.id, store: 'sqlite' });
    return readShared({ ...found, store: found.store }, io, (shared) =>
      show({ ...local, project: found.id, ...shared }),
    );
  },
};

export function renderStoreStatus(status: StoreStatus): string {
  const { store, file_entries: here, file_bytes: bytes } = status;
  const size = here === null ? 'not there yet' : `${here} entries, ${renderBytes(bytes ?? 0)}`;
  return renderFacts(`project ${status.project}`, [
    ['store', store],
    ['role', status.role ?? null],
    ['server', status.generation ?? null],
    ['latency', status.latency_ms === undefined ? null : `${status.latency_ms} ms`],
    [
      'entries',
      status.entries === undefined ? null : `${status.entries}, database ${renderBytes(status.database_bytes ?? 0)}`,
    ],
    [store === 'sqlite' ? 'ledger' : 'replica', `${status.file} (${size})`],
  ]);
}

type Local = Pick<StoreStatus, 'file' | 'file_entries' | 'file_bytes'>;

async function readLocal(place: LedgerPlace): Promise<Local> {
  const opened = await openStoreAt(place);
  if (!opened.ok) return { file: place.ledger, file_entries: null, file_bytes: null };
  const { size } = await opened.store.head();
  await opened.store.close();
  return { file: place.ledger, file_entries: size, file_bytes: statSync(place.ledger).size };
}

type Shared = Required<
  Pick<StoreStatus, 'store' | 'role' | 'generation' | 'latency_ms' | 'entries' | 'head' | 'database_bytes'>
>;

async function readShared(
  { id, store: url }: FoundProject & { readonly store: string },
  io: Io,
  show: (shared: Shared) => number,
): Promise<number> {
  return withDatabase({ url, id }, io, async ({ store, connect }) => {
    const connection = connect('store status');
    await connection.query(SERVER, []);
    const startMs = performance.now();
    const [row] = await connection.query(SERVER, []);
    const latency = Math.round((performance.now() - startMs) * 10) / 10;
    const head: Head = await store.head();
    return show({
      store: renderStoreUrl(url),
      role: String(row?.['role'] ?? ''),
      generation: String(row?.['server'] ?? ''),
      latency_ms: latency,
      entries: head.size,
      head: head.size === 0 ? null : toHex(head.hash),
      database_bytes: Number(row?.['bytes'] ?? 0),
    });
  });
}

const SERVER = sql('store_status')`
  SELECT current_user::text AS role, baton.server_generation() AS server,
    pg_database_size(current_database())::text AS bytes`;

function renderBytes(bytes: number): string {
  return bytes >= 10_000_000 ? `${Math.round(bytes / 1_000_000)} MB` : `${Math.round(bytes / 1000)} kB`;
}
