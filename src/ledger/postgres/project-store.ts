import type { Client } from 'pg';
import { sameBytes } from '../format/bytes.ts';
import { type Head, HealthLog, type Store } from '../store.ts';
import { appendToPostgres } from './append.ts';
import type { PostgresConnection } from './connection.ts';
import { PostgresProblem, rolledBack } from './problems.ts';
import {
  deleteSnapshot,
  findPostgresFaults,
  insertBlob,
  selectBlob,
  selectBlobs,
  selectCheckpoint,
  selectEntries,
  selectHashes,
  selectHead,
  selectSnapshot,
  selectSnapshotNames,
  selectTiles,
  upsertSnapshot,
} from './read.ts';
import type { PostgresHeadWatch } from './watch.ts';

export interface ProjectStoreParts {
  readonly project: number;
  /** Its commits wait for the disk. It belongs to this store alone. */
  readonly writer: PostgresConnection;
  /** Shared with the other projects. */
  readonly reader: PostgresConnection;
  readonly continuity: ContinuityCheck;
  readonly watch: PostgresHeadWatch;
  /** Tells the other processes that there is something new. */
  readonly announce: () => void;
  readonly close: () => Promise<void>;
}

export function makeProjectStore({
  project,
  writer,
  reader,
  continuity,
  watch,
  announce,
  close,
}: ProjectStoreParts): Store {
  const log = new HealthLog();
  return {
    kind: 'postgres',
    async head() {
      return continuity.note(await selectHead(reader, project));
    },
    async append(commit) {
      const appended = await appendToPostgres(writer, project, commit);
      if ('problem' in appended) {
        log.failed(appended.problem);
        return appended;
      }
      log.succeeded();
      watch.tell(continuity.note(appended.ok ? appended.head : appended.conflict));
      if (appended.ok) announce();
      return appended;
    },
    entries: (range) => selectEntries(reader, project, range),
    hashes: (range) => selectHashes(reader, project, range),
    tiles: (level, range) => selectTiles(reader, project, level, range),
    findCheckpoint: (size) => selectCheckpoint(reader, project, size),
    // An entry that names a blob must find it there after a crash: blobs are written by the session that waits.
    putBlob: (hash, bytes) => insertBlob(writer, project, hash, bytes),
    findBlob: (hash) => selectBlob(reader, project, hash),
    blobs: () => selectBlobs(reader, project),
    saveSnapshot: (name, snapshot) => upsertSnapshot(reader, project, name, snapshot),
    findSnapshot: (name) => selectSnapshot(reader, project, name),
    dropSnapshot: (name) => deleteSnapshot(reader, project, name),
    snapshotNames: () => selectSnapshotNames(reader, project),
    inspect: () => findPostgresFaults(reader, project),
    watch: (listener) => watch.add(listener),
    health: () => log.health,
    async probe(freshMs = 0) {
      if (log.health.writable && log.provenAgoMs < freshMs) return log.health;
      try {
        await writer.query(PROBE);
        log.succeeded();
      } catch (error) {
        if (!(error instanceof PostgresProblem)) throw error;
        log.failed(error.problem);
      }
      return log.health;
    },
    close,
  };
}

/** A transaction number is only given out by a server that can write. */
const PROBE = { name: 'probe', text: 'SELECT pg_current_xact_id()' };

export interface ContinuityCheck {
  note(head: Head): Head;
  /** Throws, from now on always, where the chain behind a new connection is not the one that was seen before. */
  require(client: Client, project: number): Promise<void>;
}

/**
 * A server that comes back may be another one: a standby that had not received everything, or a restored backup. So
 * each new connection is asked for the newest entry this process has ever seen, before anything is read or written.
 */
export function makeContinuityCheck(): ContinuityCheck {
  let seen: Head | undefined;
  let lost: PostgresProblem | undefined;

  return {
    note(head) {
      if (head.size > (seen?.size ?? 0)) seen = head;
      return head;
    },
    async require(client, project) {
      if (seen !== undefined && !(await contains(client, project, seen))) lost = rolledBack(seen.size);
      if (lost !== undefined) throw lost;
    },
  };
}

async function contains(client: Client, project: number, { size, hash }: Head): Promise<boolean> {
  const { rows } = await client.query<{ hash: Buffer }>({
    text: 'SELECT hash FROM baton.entry WHERE project = $1 AND seq = $2',
    values: [project, size],
  });
  return rows[0] !== undefined && sameBytes(rows[0].hash, hash);
}
