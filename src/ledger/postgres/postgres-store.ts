import type { Store } from '../store.ts';
import { append } from './append.ts';
import { makeConnection, type Connection } from './connection.ts';
import { makeContinuity, type Continuity } from './continuity.ts';
import { inspect } from './inspect.ts';
import { findBlob, findSnapshot, putBlob, readSnapshotNames, saveSnapshot } from './keep.ts';
import { migrate } from './migrate.ts';
import {
  findCheckpoint,
  readBlobs,
  readCheckpoints,
  readEntries,
  readHashes,
  readHead,
  readTiles,
} from './read.ts';
import { applySettings } from './settings.ts';
import { requireNumber } from './statement.ts';
import { makeWake, type Wake } from './wake.ts';
import { makeWatch, type Watch } from './watch.ts';

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`; the host may be the folder of a Unix socket, percent-encoded. */
  readonly url: string;
  /** Which chain: one database keeps any number of them. */
  readonly project: string;
  /** How long an operation waits for a server that is away before it gives up with a problem. */
  readonly patienceMs?: number;
  /** How long the server may take for one answer before the connection counts as lost. */
  readonly silenceMs?: number;
  /** At most one wake-up for other processes in this time. */
  readonly wakeEveryMs?: number;
  /** How often a watcher looks at the head by itself: for a writer that died before it could wake anybody. */
  readonly catchUpMs?: number;
}

/**
 * Two sessions: one writes, and each of its commits waits for the disk; the other reads, listens and wakes, and so never
 * makes a writer wait.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, patienceMs = 15_000, silenceMs = 60_000, wakeEveryMs = 5, catchUpMs = 1_000 } = options;
  const common = { url, patienceMs, silenceMs };
  const continuity = makeContinuity();
  let project = 0;

  const writer = makeConnection({
    ...common,
    applicationName: 'baton ledger writer',
    async setUp(client) {
      await applySettings(client, { durable: true });
      await migrate(client);
      await continuity.require(client, project);
    },
  });
  project = await openProject(writer, options.project);
  const channel = `baton_ledger_${project}`;

  const reader = makeConnection({
    ...common,
    applicationName: 'baton ledger reader',
    async setUp(client) {
      await applySettings(client, { durable: false });
      await continuity.require(client, project);
      if (watch.isWatched) await client.query(`LISTEN ${channel}`);
      watch.look();
    },
    onNotification: () => watch.look(),
    onLoss: () => watch.look(),
  });
  const watch = makeWatch(
    reader,
    channel,
    async () => continuity.note(await readHead(reader, project)),
    catchUpMs,
  );
  const wake = makeWake(reader, channel, wakeEveryMs);
  return makeStore({ writer, reader, project, continuity, watch, wake });
}

interface Parts {
  readonly writer: Connection;
  readonly reader: Connection;
  readonly project: number;
  readonly continuity: Continuity;
  readonly watch: Watch;
  readonly wake: Wake;
}

function makeStore({ writer, reader, project, continuity, watch, wake }: Parts): Store {
  return {
    kind: 'postgres',
    async head() {
      return continuity.note(await readHead(reader, project));
    },
    async append(commit) {
      const appended = await append(writer, project, commit);
      if ('problem' in appended) return appended;
      watch.tell(continuity.note(appended.ok ? appended.head : appended.conflict));
      if (appended.ok) wake.announce();
      return appended;
    },
    entries: (range) => readEntries(reader, project, range),
    hashes: (range) => readHashes(reader, project, range),
    tiles: (level, range) => readTiles(reader, project, level, range),
    findCheckpoint: (size) => findCheckpoint(reader, project, size),
    checkpoints: () => readCheckpoints(reader, project),
    // An entry that names a blob must find it there after a crash: blobs are written by the session that waits.
    putBlob: (hash, bytes) => putBlob(writer, project, hash, bytes),
    findBlob: (hash) => findBlob(reader, project, hash),
    blobs: () => readBlobs(reader, project),
    saveSnapshot: (name, snapshot) => saveSnapshot(reader, project, name, snapshot),
    findSnapshot: (name) => findSnapshot(reader, project, name),
    snapshotNames: () => readSnapshotNames(reader, project),
    inspect: () => inspect(reader, project),
    watch: (listener) => watch.add(listener),
    async close() {
      watch.close();
      await wake.close();
      await Promise.all([writer.close(), reader.close()]);
    },
  };
}

async function openProject(writer: Connection, name: string): Promise<number> {
  try {
    const [row = {}] = await writer.query(OPEN_PROJECT, [name]);
    return requireNumber(row, 'id');
  } catch (error) {
    await writer.close();
    throw error;
  }
}

const OPEN_PROJECT = { name: 'open_project', text: 'SELECT baton.open_project($1) AS id' };
